"""The tables of RESULTS.md, in Markdown."""

import numpy as np

import ours
from groups import SETS, TITLES, accuracy, complete, described, groups, plain, spread, values
from held import difference


def markdown(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in [header, *rows]]
    return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]) + "\n"


def table1(best, paper):
    """Methods by sets."""
    tops = {name: max((value for m in TITLES if (value := accuracy(best.get((name, m)))) is not None), default=None) for name in SETS}
    lines = []
    for method, title in TITLES.items():
        line = [title]
        for name in SETS:
            group, there = best.get((name, method)), paper.get((name, method))
            mean = accuracy(group)
            if mean is None:
                text = "failed" if group else "not run"
            else:
                text = f"{mean:.3f} ± {spread(group):.3f}"
                text = f"**{text}**" if round(mean, 3) == round(tops[name], 3) else text
                text += "" if complete(group) else "¹"
            line.append(text + (f" ({there['accuracy']:.3f} ± {there['sd']:.3f})" if there else ""))
        lines.append(line)
    return markdown(["", *SETS.values()], lines)


def seconds(value):
    """Three digits, or the whole number."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table2(best, paper):
    """Seconds, methods by sets."""
    lines = []
    for method, title in TITLES.items():
        line = [title]
        for name in SETS:
            good = [row for row in best.get((name, method), []) if "failed" not in row]
            there = paper.get((name, method))
            text = " / ".join(seconds(np.mean([row[kind] for row in good])) for kind in ("wall", "cpu")) if good else "failed" if (name, method) in best else "not run"
            line.append(text + (f" ({seconds(60 * there['minutes'])})" if there else ""))
        lines.append(line)
    return markdown(["", *SETS.values()], lines)


def sweeps(rows):
    """Cells of ours that were run with several numbers of sweeps, on the seeds that they share: the fewest and the most, and their paired difference."""
    found = {}
    for group in groups(row for row in rows if row["method"] in ours.FAMILIES and plain(row) and "failed" not in row):
        found.setdefault((group[0]["set"], group[0]["method"]), []).append(group)
    lines, gaps, far = [], [], []
    for (name, method), several in sorted(found.items()):
        several.sort(key=lambda group: group[0]["settings"]["warmup"] + group[0]["settings"]["draws"])
        ends = [{row["seed"]: np.mean(row["accuracies"]) for row in several[k]} for k in (0, -1)]
        seeds = sorted(ends[0].keys() & ends[1].keys())
        if len(several) < 2 or not seeds:
            continue
        gap = np.array([ends[1][seed] - ends[0][seed] for seed in seeds])
        text = f"{gap.mean():+.3f}"
        if len(gap) > 1:
            error = gap.std(ddof=1) / len(gap) ** 0.5
            text += f" ± {error:.3f}"
            gaps.append(gap.mean())
            far += [f"{SETS[name]}, {TITLES[method]}"] * bool(abs(gap.mean()) > 2 * error)
        cell = [f"{described(several[k][0])}: {np.mean([ends[k][seed] for seed in seeds]):.3f}" for k in (0, -1)]
        lines.append([SETS[name], TITLES[method], *cell, text, str(len(seeds))])
    if not lines:
        return "No cell has been run with two numbers of sweeps yet.\n"
    said = "Accuracy with the fewest and with the most sweeps that were run, all folds' seeds; the difference has one standard error over the seeds that both have.\n\n"
    text = said + markdown(["set", "family", "fewest", "most", "difference", "seeds"], lines)
    if gaps:
        text += f"\nOf the {len(gaps)} cells with two seeds or more the mean difference is {np.mean(gaps):+.4f} ± {np.std(gaps, ddof=1) / len(gaps) ** 0.5:.4f}, and "
        text += f"{len(far)} differ by more than two standard errors" + (f": {'; '.join(far)}" if far else "") + ".\n"
    return text


def variants(rows):
    """Our fits with other settings than the defaults."""
    lines = []
    for group in groups(row for row in rows if not plain(row)):
        found = values(group)
        text = f"{np.mean(found):.3f} ± {spread(group):.3f}" if found else f"failed: {group[0]['failed']}"
        lines.append([SETS[group[0]["set"]], TITLES[group[0]["method"]], described(group[0]), text, str(len(group))])
    return markdown(["set", "family", "settings", "accuracy", "seeds"], sorted(lines)) if lines else "None have been run yet.\n"


def held(rows):
    """The stricter rule."""
    found = {}
    for group in groups(row for row in rows if "failed" not in row):
        found.setdefault(group[0]["set"], {})[group[0]["method"]] = {row["seed"]: row for row in group}
    text = ""
    for name in SETS:
        methods = found.get(name, {})
        if not any(m in ours.FAMILIES for m in methods):
            continue
        means = {m: np.mean([row["accuracy"] for row in by.values()]) for m, by in methods.items()}
        mine = max((m for m in methods if m in ours.FAMILIES), key=means.get)
        one = next(iter(methods[mine].values()))
        lines = []
        for method in sorted(methods, key=means.get, reverse=True):
            both = sorted(set(methods[method]) & set(methods[mine]))
            gap, half = difference(*([methods[m][seed]["accuracy"] for seed in both] for m in (mine, method)))
            lines.append([TITLES[method], f"{means[method]:.3f}", "" if method == mine else f"{gap:+.3f}" + (f" ± {half:.3f}" if len(both) > 1 else ""), str(len(both)), f"{np.mean([r['cpu'] for r in methods[method].values()]):.1f}"])
        text += f"\n{SETS[name]}, {one['rows']} rows seen and {one['new']} new × {one['columns']}; ours with {described(one)}:\n\n"
        text += markdown(["", "accuracy", f"{TITLES[mine]} minus it", "splits", "CPU s"], lines)
    return text or "\nNot run yet.\n"


def every(best):
    """All that stands behind Tables 1 and 2."""
    lines = []
    for name in SETS:
        for method in TITLES:
            group = best.get((name, method))
            if not group:
                continue
            good = [row for row in group if "failed" not in row]
            means = ", ".join(f"{np.mean(row['accuracies']):.3f}" for row in good)
            cpu = f"{np.mean([row['cpu'] for row in good]):.3g}" if good else ""
            days = sorted({row["date"][:10] for row in group})
            failed = "; ".join(sorted({row["failed"] for row in group if "failed" in row}))
            machine = ", ".join(sorted({f"{row['machine']}, {row.get('threads', 1)} thread" + "s" * (row.get("threads", 1) != 1) for row in group}))
            size = f"{group[0]['rows']}×{group[0]['columns']}"
            seeds = ", ".join(str(row["seed"]) for row in group)
            lines.append([SETS[name], size, TITLES[method], described(group[0]), seeds, means or f"failed: {failed}", cpu, "–".join(days[:: max(1, len(days) - 1)]), machine])
    return markdown(["set", "size", "method", "settings", "seeds", "accuracy of each seed, mean over folds", "CPU s", "date", "machine"], lines)
