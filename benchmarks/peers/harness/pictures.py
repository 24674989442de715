"""Work–precision pictures: the error reached against the time it took, one curve a peer's arm, both logarithmic. Matplotlib."""

from pathlib import Path

from .case import Case
from .result import Row

STYLE = {"eddy": ("#c0392b", 2.2), "heyoka": ("#8e44ad", 1.4), "jax": ("#2471a3", 1.4), "diffrax": ("#5dade2", 1.4), "odeint": ("#1e8449", 1.4),
         "sundials": ("#b7950b", 1.4), "numbalsoda": ("#af601a", 1.4), "torchode": ("#7f8c8d", 1.4), "torchdiffeq": ("#34495e", 1.4)}
LINES = ("-", "--", ":", "-.")


def draw(case: Case, rows: list[Row], file: Path) -> bool:
    """False where nothing was measured at two errors at least, or where there is no Matplotlib."""
    curves = {}
    for row in rows:
        if row.case == case.key and row.is_comparable:
            curves.setdefault((row.peer, row.arm), []).append((row.median, row.error))
    if max((len(points) for points in curves.values()), default=0) < 2:
        return False
    try:
        import matplotlib
        matplotlib.use("svg")
        import matplotlib.pyplot as plt
    except ImportError:
        return False
    plt.rcParams.update({"svg.hashsalt": "eddy", "font.size": 9, "svg.fonttype": "none", "font.family": "sans-serif"})
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    seen: dict[str, int] = {}
    for (peer, arm), points in sorted(curves.items(), key=lambda item: (item[0][0] != "eddy", item[0])):
        colour, width = STYLE.get(peer, ("#555555", 1.4))
        points.sort(key=lambda point: point[1])
        axes.loglog([error for _, error in points], [1e6 * time for time, _ in points], LINES[seen.get(peer, 0) % 4], color=colour,
                    linewidth=width, marker="o", markersize=3, label=arm)
        seen[peer] = seen.get(peer, 0) + 1
    axes.invert_xaxis()
    axes.set_xlabel("relative error reached")
    axes.set_ylabel(f"µs per {case.unit}, median")
    axes.set_title(case.title, fontsize=10)
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
    file.write_text("\n".join(line.rstrip() for line in file.read_text().splitlines()) + "\n")
    return True
