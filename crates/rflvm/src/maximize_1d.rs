//! Maximum of a function of one variable, for parameters that are maximised one at a time, or many side by side.

/// The maximum of `f` near `at`. Never ends below its start.
pub fn maximize_1d(at: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let mut search = Maximizer::new(at, step);
    loop {
        if let Some(found) = search.judge(f(search.candidate())) {
            return found;
        }
    }
}

/// Halvings of the bracket, at most.
const SECTIONS: usize = 60;
/// 1/φ.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A search that is asked for candidates and told their values: a bracket by doubling steps, then golden sections.
#[derive(Debug, Clone)]
pub(crate) struct Maximizer {
    at: f64,
    here: f64,
    step: f64,
    stage: Stage,
    /// The bracket, the best point inside it with its value, and the next step.
    behind: f64,
    middle: f64,
    top: f64,
    ahead: f64,
    reach: f64,
    /// Two points inside the bracket, and their values.
    inside: [f64; 2],
    values: [f64; 2],
    sections: usize,
}

/// What the next value is for.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Here,
    Forward,
    Backward {
        forward: f64,
    },
    Bracket,
    /// The first of the two points inside, before the second is known.
    First,
    Inside(usize),
    Found,
}

impl Maximizer {
    pub fn new(at: f64, step: f64) -> Self {
        Maximizer {
            at,
            here: f64::NAN,
            step,
            stage: Stage::Here,
            behind: at,
            middle: at,
            top: f64::NAN,
            ahead: at,
            reach: step,
            inside: [at; 2],
            values: [f64::NAN; 2],
            sections: 0,
        }
    }

    /// Where the function must be evaluated next.
    pub fn candidate(&self) -> f64 {
        match self.stage {
            Stage::Here => self.at,
            Stage::Forward => self.at + self.step,
            Stage::Backward { .. } => self.at - self.step,
            Stage::Bracket => self.ahead,
            Stage::First => self.inside[0],
            Stage::Inside(side) => self.inside[side],
            Stage::Found => 0.5 * (self.behind + self.ahead),
        }
    }

    /// Takes the value at the candidate; the maximum, once it is found.
    pub fn judge(&mut self, value: f64) -> Option<f64> {
        match self.stage {
            Stage::Here => {
                (self.here, self.top) = (value, value);
                self.stage = Stage::Forward;
            }
            Stage::Forward => self.stage = Stage::Backward { forward: value },
            Stage::Backward { forward } => {
                self.reach = if forward > value { self.step } else { -self.step };
                (self.behind, self.ahead) = (self.at - self.reach, self.at + self.reach);
                self.stage = Stage::Bracket;
            }
            Stage::Bracket if value > self.top && self.reach.abs() < 1e6 => {
                (self.behind, self.middle, self.top) = (self.middle, self.ahead, value);
                self.reach *= 2.0;
                self.ahead += self.reach;
            }
            Stage::Bracket => {
                let part = GOLDEN * (self.ahead - self.behind);
                self.inside = [self.ahead - part, self.behind + part];
                self.stage = Stage::First;
            }
            Stage::First => {
                self.values[0] = value;
                self.stage = Stage::Inside(1);
            }
            Stage::Inside(side) => {
                self.values[side] = value;
                self.narrow();
            }
            Stage::Found => return Some(if value > self.here { self.candidate() } else { self.at }),
        }
        None
    }

    /// Leaves out the part of the bracket beyond the lower of the two points.
    fn narrow(&mut self) {
        if self.sections == SECTIONS || (self.ahead - self.behind).abs() < 1e-7 * (1.0 + self.middle.abs()) {
            self.stage = Stage::Found;
            return;
        }
        self.sections += 1;
        let ([a, b], [at_a, at_b]) = (self.inside, self.values);
        if at_a > at_b {
            self.ahead = b;
            self.inside = [b - GOLDEN * (b - self.behind), a];
            self.values[1] = at_a;
            self.stage = Stage::Inside(0);
        } else {
            self.behind = a;
            self.inside = [b, a + GOLDEN * (self.ahead - a)];
            self.values[0] = at_b;
            self.stage = Stage::Inside(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_of_a_function_of_one_variable_is_found() {
        for (at, step) in [(0.0, 0.5), (9.0, 0.5), (-40.0, 0.01), (3.0, 100.0)] {
            let found = maximize_1d(at, step, |x| -(x - 3.0).powi(2) - (x - 3.0).powi(4));
            assert!((found - 3.0).abs() < 1e-4, "{found} from {at}");
        }
        assert_eq!(maximize_1d(1.0, 0.1, |_| f64::NAN), 1.0);
    }
}
