"""Tables in LaTeX, with booktabs."""

from __future__ import annotations

from driftlab.reporting.sidecars import Mark, TableContent

ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    # A bracket or star at the start of a row would be an argument of the line break before it.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    "−": r"$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "λ": r"$\lambda$",
    "β": r"$\beta$",
    "–": "--",
    "…": r"\ldots{}",
}
MARKS: dict[Mark, str] = {"": "{}", "best": r"\textbf{{{}}}", "worst": r"\underline{{{}}}"}


def escape(text: str) -> str:
    """Escape LaTeX's special characters; letters beyond ASCII stay, for UTF-8 input."""
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def latex_table(content: TableContent, *, title: str, caption: str, provenance: str, label: str) -> str:
    """Write a complete `table` environment; it needs the package booktabs.

    Args:
        content: The cells.
        title: First sentence of the caption.
        caption: The rest of the caption.
        provenance: The line under the table.
        label: LaTeX label; underscores become hyphens.
    """
    unit = f" ({escape(content.units)})" if content.units else ""
    alignment = "l" + "".join(
        "l" if any(isinstance(line[place], str) for line in content.values) else "r"
        for place in range(len(content.columns))
    )
    body = [
        " & ".join(
            [escape(row)]
            + [MARKS[mark].format(escape(text)) for text, mark in zip(cells, marks, strict=True)]
        )
        for row, cells, marks in zip(content.rows, content.text, content.marks, strict=True)
    ]
    lines = [
        "% needs \\usepackage{booktabs} and UTF-8 input",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{escape(title)}{unit}. {escape(caption)}}}",
        rf"\label{{{label.replace('_', '-').replace(' ', '-')}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(escape, [content.index, *content.columns])) + r" \\",
        r"\midrule",
        *(line + r" \\" for line in body),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize {escape(provenance)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
