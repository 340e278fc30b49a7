"""Tables: collections of records that a simulation copies only when it touches them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_args

from pydantic_core import PydanticCustomError, core_schema

from ..models import clone
from .records import Record

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

R = TypeVar("R", bound=Record | dict[str, Any])


class Table(MutableMapping[str, R], Generic[R]):
    """Records by id, over a shared base that is never changed.

    ``table[id]`` gives this simulation's own copy, made at first touch, to read or to change in place.
    ``peek`` and ``scan`` give shared records: cheap, and for reading only.

    In JSON a table is an object keyed by id; annotated with ``KeyedBy("line_id")`` it is an array of records
    that carry their id in that field; annotated with ``Noted()`` it is an object with ``data`` and ``notes``.
    Records are of a type, or free objects: ``Table[dict[str, Any]]``.
    """

    __slots__ = ("_base", "_dropped", "_own", "notes", "ordered")

    def __init__(self, base: dict[str, R] | None = None, *, ordered: bool = False, notes: str = "") -> None:
        self.ordered = ordered  #: Whether the order of records is part of the state, as in an array.
        self.notes = notes  #: A text about the table, which is part of the state.
        self._base: dict[str, R] = base if base is not None else {}
        self._own: dict[str, R] = {}
        self._dropped: frozenset[str] = frozenset()

    def fork(self) -> Table[R]:
        """Return an independent table with the same content, which shares every untouched record."""
        # Without ``__init__``: each simulation makes some fifty copies.
        table: Table[R] = Table.__new__(Table)
        table.ordered, table.notes, table._base = self.ordered, self.notes, self._base
        table._own = {key: clone(record) for key, record in self._own.items()} if self._own else {}
        table._dropped = self._dropped
        return table

    def peek(self, key: str) -> R | None:
        """Return the record, or None, for reading only."""
        if key in self._own:
            return self._own[key]
        return None if key in self._dropped else self._base.get(key)

    def scan(self) -> Iterator[R]:
        """Yield every record in order, for reading only."""
        if not self._own and not self._dropped:
            return iter(self._base.values())
        if self.keeps_order:
            return map(self._own.get, self._base, self._base.values())
        return (self._own[key] if key in self._own else self._base[key] for key in self)

    def peek_items(self) -> Iterator[tuple[str, R]]:
        """Yield every id and its record in order, for reading only."""
        return zip(self, self.scan(), strict=True)

    @property
    def keeps_order(self) -> bool:
        """Return whether the ids are those of the base, in its order."""
        return not self._dropped and (not self._own or self._own.keys() <= self._base.keys())

    @property
    def touched(self) -> set[str]:
        """The ids at which this table may differ from its base."""
        return self._own.keys() | self._dropped

    def is_as_untouched_as(self, other: Table[R]) -> bool:
        """Return whether both tables are their common base, so that they need not be compared."""
        return self._base is other._base and not (self._own or self._dropped or other._own or other._dropped)

    def shares_base_with(self, other: Table[R]) -> bool:
        """Return whether untouched records of both tables are the same objects."""
        return self._base is other._base

    def __getitem__(self, key: str) -> R:
        if key in self._own:
            return self._own[key]
        if key in self._dropped:
            raise KeyError(key)
        record = self._own[key] = clone(self._base[key])
        return record

    def __setitem__(self, key: str, record: R) -> None:
        self._own[key] = record

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._own.pop(key, None)
        if key in self._base:
            self._dropped |= {key}

    def __contains__(self, key: object) -> bool:
        return key in self._own or (key in self._base and key not in self._dropped)

    def __iter__(self) -> Iterator[str]:
        base, dropped = self._base, self._dropped
        yield from (key for key in base if key not in dropped) if dropped else base
        yield from (key for key in self._own if key not in base or key in dropped)

    def __len__(self) -> int:
        return len(self._base) if self.keeps_order else sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Table({len(self)} records, {len(self.touched)} touched)"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        objects = handler.generate_schema(dict[str, get_args(source)[0]])  # type: ignore[misc]
        return _table_schema(objects, cls, lambda table: {key: table.peek(key) for key in table})


class KeyedBy(NamedTuple):
    """Annotates a table that is an array in JSON, with the field that contains a record's id."""

    field: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        array = handler.generate_schema(list[get_args(source)[0]])  # type: ignore[misc]
        return _table_schema(array, self._index, lambda table: list(table.scan()))

    def _index(self, records: list[Any]) -> Table[Any]:
        base = {getattr(record, self.field): record for record in records}
        if len(base) < len(records):
            raise PydanticCustomError("duplicate_id", "two records have the same {field}", {"field": self.field})
        return Table(base, ordered=True)


class Noted(NamedTuple):
    """Annotates a table that is an object with ``data``, the records by id, and ``notes``, a text, in JSON.

    Other keys of the object are dropped.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        records = handler.generate_schema(dict[str, get_args(source)[0]])  # type: ignore[misc]
        fields = {
            "data": core_schema.typed_dict_field(records, required=False),
            "notes": core_schema.typed_dict_field(core_schema.str_schema(), required=False),
        }
        return _table_schema(
            core_schema.typed_dict_schema(fields, extra_behavior="ignore"),
            lambda part: Table(part.get("data", {}), notes=part.get("notes", "")),
            lambda table: {"data": {key: table.peek(key) for key in table}, "notes": table.notes},
        )


def _table_schema(content: core_schema.CoreSchema, load: Any, dump: Any) -> core_schema.CoreSchema:
    return core_schema.no_info_wrap_validator_function(
        lambda value, validate: value if isinstance(value, Table) else load(validate(value)),
        content,
        serialization=core_schema.plain_serializer_function_ser_schema(dump, return_schema=content),
    )
