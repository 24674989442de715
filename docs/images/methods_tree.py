"""Draws the decision tree of docs/guide/methods.md: python3 -B docs/images/methods_tree.py > docs/images/methods_tree.svg"""

WIDTH = 940
INK, PAPER, LINE = "#1a1a1a", "#ffffff", "#8a8a8a"
QUESTION, ANSWER = ("#fff3d6", "#c98a00"), ("#dcebfa", "#1f6fb2")

parts = []


def box(x, y, width, lines, colours, bold=False):
    """A box whose upper left corner is (x, y); the first of several lines of an answer is the method."""
    fill, edge = colours
    height = 18 * len(lines) + 12
    parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{edge}"/>')
    for i, line in enumerate(lines):
        weight = ' font-weight="bold"' if bold and i == 0 else ""
        parts.append(f'<text x="{x + 10}" y="{y + 20 + 18 * i}"{weight}>{line}</text>')
    return height


def line(*points):
    steps = " L".join(f"{x},{y}" for x, y in points)
    parts.append(f'<path d="M{steps}" fill="none" stroke="{LINE}" stroke-width="1.5"/>')


def label(x, y, text, anchor="start"):
    parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#555555" font-style="italic">{text}</text>')


def branches(x, y, answers, width=330):
    """Answers below each other behind a question's line, each with the case in which it holds; returns where they end."""
    start = y + 9 * len(answers[0][1]) + 6
    for case, lines in answers:
        middle = y + 9 * len(lines) + 6
        line((x, middle), (x + 255, middle))
        label(x + 8, middle - 5, case)
        y += box(x + 255, y, width, lines, ANSWER, bold=True) + 12
        last = middle
    line((x, start), (x, last))
    return y


def question(y, lines, answers, no=None):
    """A question at the left, its answers at the right; `no` leads on to the next question below."""
    height = box(20, y, 265, lines, QUESTION)
    middle = y + 9 * len(answers[0][1]) + 6
    line((285, middle), (310, middle))
    end = branches(310, y, answers)
    end = max(end, y + height + 30)
    if no:
        line((150, y + height), (150, end))
        label(158, y + height + 20, no)
    return end


y = 20
y = question(
    y,
    ["Is there noise, a diffusion?"],
    [
        ("force, friction, temperature", ["QUICSORT, ALIGN", "Langevin's equation"]),
        ("it does not read y (additive)", ["SOSRA", "constant steps: ShARK"]),
        ("diagonal, or one noise", ["SOSRI, SRIW1 (Itô)", "SlowRK (Stratonovich)"]),
        ("general", ["EulerMaruyama (Itô)", "SPaRK, EulerHeun (Stratonovich)"]),
        ("only means are wanted", ["DRI1 (Itô), weak order 2", "with .paths"]),
    ],
    "no",
)
y = question(y, ["Are some equations algebraic", "(a singular mass matrix)?"], [("yes", ["Rodas5P", "any Rosenbrock method"])], "no")
y = question(y, ["Is f a network with layers", "of a dozen units or more?"], [("yes, not stiff", ["Tsit5, Dopri5 with Tiles{}", "explicit methods only"])], "no")
y = question(
    y,
    ["Is it stiff?"],
    [
        ("yes", ["Rodas5P", "errors of 1e-2 to 1e-4: Rodas4"]),
        ("a part of f only", ["KenCarp4", "a field with stiff and non_stiff (IMEX)"]),
        ("some trajectories, or unknown", ["AutoSwitch{Tsit5{}, Rodas5P{}}", "Rodas5P only where it is needed"]),
    ],
    "no",
)
y = question(
    y,
    ["How large may the error be?"],
    [
        ("above some 1e-5", ["Tsit5"]),
        ("1e-6 to 1e-8", ["Vern7"]),
        ("below 1e-8", ["Taylor&lt;18&gt; for smooth f, else Vern7"]),
        ("constant steps", ["Dopri5, RK4"]),
    ],
)
height = y + 8

print(
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
    f'font-family="sans-serif" font-size="14" fill="{INK}">'
)
print("<title>Which method when</title>")
print(f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>')
print("\n".join(parts))
print("</svg>")
