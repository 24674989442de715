"""What came of an arm at one error: a row of a table and a point of a picture."""

import math
from dataclasses import asdict, dataclass, field


@dataclass
class Row:
    case: str
    arm: str
    peer: str
    target: float | None = None
    tolerance: float | None = None
    error: float = math.nan
    mark: str = ""                  # why the time is not to be compared: the error misses the target
    failure: str = ""               # why there is no time: missing, crashed, hung
    minimum: float = math.nan       # seconds per unit of work
    median: float = math.nan
    accepted: float = math.nan      # per lane
    rejected: float = math.nan
    evaluations: float = math.nan
    compile: float = math.nan       # seconds
    first: float = math.nan
    memory: int = 0                 # bytes at the peak of a run, beyond what was there before the first
    setting: str = ""
    stride: int = 1
    lanes: int = 0
    wall_over_processor: float = math.nan
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def is_comparable(self) -> bool:
        """An arm that is more accurate than asked for may be compared: it was not helped by it."""
        return not self.failure and "too large" not in self.mark and self.minimum > 0

    def as_record(self) -> dict:
        return {"kind": "row"} | {key: None if isinstance(value, float) and not math.isfinite(value) else value
                                  for key, value in asdict(self).items()}

    @staticmethod
    def from_record(record: dict) -> "Row":
        """What `as_record` made; None stands for what was no number."""
        plain = {"target", "tolerance"}
        return Row(**{key: math.nan if value is None and key not in plain else value for key, value in record.items() if key != "kind"})


def best(rows: list[Row], peers: set[str] | None = None, without: str = "") -> Row | None:
    """The fastest comparable row, by its median, among `peers` or among all but `without`."""
    able = [row for row in rows if row.is_comparable and row.peer != without and (peers is None or row.peer in peers)]
    return min(able, key=lambda row: row.median, default=None)
