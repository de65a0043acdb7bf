"""What an eye would find fault with in a figure."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def texts_overlap(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of titles, axis labels and legends that lie on each other or beyond the figure's edge."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    items = [(axis.title, axis.title.get_text()) for axis in figure.axes]
    items += [(axis.xaxis.label, axis.get_xlabel()) for axis in figure.axes]
    items += [(axis.yaxis.label, axis.get_ylabel()) for axis in figure.axes]
    items += [(text, text.get_text()) for legend in figure.legends for text in legend.get_texts()]
    boxes = [(name, item.get_window_extent(renderer)) for item, name in items if name]
    found = [
        (first, second)
        for place, (first, box) in enumerate(boxes)
        for second, other in boxes[:place]
        if box.overlaps(other)
    ]
    edge = figure.bbox
    found += [
        (name, "edge")
        for name, box in boxes
        if box.x0 < edge.x0 or box.x1 > edge.x1 or box.y0 < edge.y0 or box.y1 > edge.y1
    ]
    return found
