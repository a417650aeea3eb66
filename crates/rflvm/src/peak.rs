//! Maximum of a function of one variable, for parameters that are maximised one at a time.

/// The maximum of `f` near `at`: a bracket by doubling steps, then golden-section search. Never ends below
/// its start.
pub fn peak(at: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    const SECTIONS: usize = 60;
    let golden = 0.5 * (5_f64.sqrt() - 1.0);
    let here = f(at);
    let step = if f(at + step) > f(at - step) { step } else { -step };
    let (mut behind, mut middle, mut top, mut reach) = (at - step, at, here, step);
    let mut ahead = at + reach;
    while let value = f(ahead)
        && value > top
        && reach.abs() < 1e6
    {
        (behind, middle, top) = (middle, ahead, value);
        reach *= 2.0;
        ahead += reach;
    }
    let (mut low, mut high) = (behind, ahead);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..SECTIONS {
        if (high - low).abs() < 1e-7 * (1.0 + middle.abs()) {
            break;
        }
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = f(b);
        }
    }
    let found = 0.5 * (low + high);
    if f(found) > here { found } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_of_a_function_of_one_variable_is_found() {
        for (at, step) in [(0.0, 0.5), (9.0, 0.5), (-40.0, 0.01), (3.0, 100.0)] {
            let found = peak(at, step, |x| -(x - 3.0).powi(2) - (x - 3.0).powi(4));
            assert!((found - 3.0).abs() < 1e-4, "{found} from {at}");
        }
        assert_eq!(peak(1.0, 0.1, |_| f64::NAN), 1.0);
    }
}
