//! The configurations that `make test` tests; `make validate` tests all.

use crate::configurations::{Configuration, FAMILIES, all};

/// On a device, these have more than one number per row in addition to the weights.
const ALWAYS: [&str; 2] = ["device-mixed-multinomial-missing-offset", "device-mixed-column-process-missing-offset"];

/// The configurations for routine tests: each family, complete and with missing cells; each on a device with missing cells; a twenty-fourth of the others without times,
/// a forty-eighth of those on a device, and a fortieth of those with times.
pub fn routine() -> Vec<Configuration> {
    let is_timed = |c: &Configuration| {
        let apart = ["-amplitude-", "-shared-", "-linear-", "-wander-", "-column-process"];
        c.model.dynamics().is_some() && !apart.iter().any(|word| c.name.contains(word))
    };
    let is_plain = |c: &Configuration| {
        let name = c.name.strip_prefix("device-").unwrap_or(&c.name);
        let of_family = |family: &str| name == format!("{family}-missing") || name == family && c.device.is_none();
        FAMILIES.iter().any(|(family, _)| of_family(family().name())) || ALWAYS.contains(&c.name.as_str())
    };
    let alone = all().into_iter().filter(|c| c.processes == 1);
    let (mut chosen, rest): (Vec<_>, Vec<_>) = alone.partition(is_plain);
    let (timed, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_timed);
    let (on_device, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|c| c.device.is_some());
    chosen.extend(rest.into_iter().step_by(24));
    chosen.extend(on_device.into_iter().step_by(48));
    chosen.extend(timed.into_iter().step_by(40));
    chosen
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_family_has_a_configuration() {
        let mut tested: Vec<&str> = crate::configurations::FAMILIES.iter().map(|(family, _)| family().name()).collect();
        let mut known = rflvm::internal::spec::FAMILIES.to_vec();
        tested.sort_unstable();
        known.sort_unstable();
        assert_eq!(tested, known);
        let routine = super::routine();
        // Some families are for the CPU alone.
        let on_device = |name: &&str| !["ordinal", "zero-inflated-negative-binomial", "log-normal"].contains(name);
        for name in known.into_iter().filter(on_device) {
            assert!(routine.iter().any(|c| c.name == format!("device-{name}-missing")), "{name} on a device");
        }
    }
}
