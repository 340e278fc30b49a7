"""The best assignment of rows to columns: exact, by the Hungarian method with potentials.

scipy has it too, but numpy is not a dependency of grading. 40 rows and 200 columns take some tens of milliseconds.

Source: Kuhn (1955); the form with potentials, in O(rows² · columns), is by Jonker and Volgenant (1987).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def best_assignment(weights: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return pairs of row and column with the greatest sum of weights, as many as there can be.

    Args:
        weights: The weight of each pair, by row and column; all rows have the same length. Whole numbers, so that the
            result is exact.

    Returns:
        The pairs, sorted by row. No row and no column is in two of them.
    """
    width = max(map(len, weights), default=0)
    if len(weights) > width:
        return sorted((row, column) for column, row in best_assignment(list(zip(*weights, strict=True))))
    return sorted((row, column) for column, row in _rows_by_column(weights, range(width)).items())


def _rows_by_column(weights: Sequence[Sequence[int]], columns: range) -> dict[int, int]:
    """Return the row of each column that is assigned; there are at least as many columns as rows."""
    of_rows, of_columns = [0] * len(weights), [0] * len(columns)  # the potentials
    row_of: dict[int, int] = {}
    for start in range(len(weights)):
        # A shortest path from the new row to a column that is free; the cost of a pair is its negative weight.
        distance: list[float] = [inf] * len(columns)
        before: list[int | None] = [None] * len(columns)
        reached: list[int] = []
        left = set(columns)
        row, last = start, None
        while True:
            for column in left:
                cost = -weights[row][column] - of_rows[row] - of_columns[column]
                if cost < distance[column]:
                    distance[column], before[column] = cost, last
            last = min(left, key=lambda column: (distance[column], column))
            step = int(distance[last])
            of_rows[start] += step
            for column in reached:
                of_rows[row_of[column]] += step
                of_columns[column] -= step
            for column in left:
                distance[column] -= step
            left.remove(last)
            reached.append(last)
            if last not in row_of:
                break
            row = row_of[last]
        _assign(row_of, before, last, start)
    return row_of


def _assign(row_of: dict[int, int], before: Sequence[int | None], column: int, start: int) -> None:
    """Move the rows of the columns on a path by one column, so that the path's last column gets a row."""
    while (previous := before[column]) is not None:
        row_of[column] = row_of[previous]
        column = previous
    row_of[column] = start
