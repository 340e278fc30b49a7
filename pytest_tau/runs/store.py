"""Stores of runs: named objects, each written as a whole, in a folder or behind a URL that fsspec can open.

Readers see the whole of an object or none of it. Credentials are those of fsspec and its libraries: no part of a URL
that may have any is shown or stored.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from ..errors import ConfigurationError, install_extra
from ..files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")
#: Seconds before a request is repeated that failed for another reason than those that a repetition cannot change.
_DELAYS = (0.5, 1.0, 2.0)
_FINAL = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError, ValueError)
#: Objects that are read at the same time.
_AT_ONCE = 64


class StoreError(OSError):
    """A store cannot be read or written; the text names it, without credentials."""

    @property
    def strerror(self) -> str:  # type: ignore[override]
        """The text, as the errors of files have it."""
        return str(self)


class Store(Protocol):
    """Objects by name; the parts of a name are separated by slashes.

    Attributes:
        shown: The URL or the folder, as it may be shown.
    """

    shown: str

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the objects below a prefix, which is empty or ends with a slash; sorted."""

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield each of these objects that there is, with its name."""

    def write(self, name: str, content: bytes) -> None:
        """Write an object, or replace it."""

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there; return False if it is, and was not written with this content."""

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""


def is_url(text: object) -> bool:
    """Return whether a text is a URL and no path."""
    return isinstance(text, str) and _URL.match(text) is not None


def public_url(url: str) -> str:
    """Return a URL without what may be credentials: what stands before the host, the query and the fragment.

    A path is returned as it is.
    """
    scheme, colon, rest = url.partition("://")
    if not colon:
        return url
    place = re.split("[?#]", rest, maxsplit=1)[0]
    host, slash, path = place.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}".rstrip("/")


def name_in(url: str) -> str:
    """Return the last part of a URL's path."""
    return public_url(url).rpartition("/")[2]


def open_store(place: str | Path, below: str = "") -> Store:
    """Return the store at a URL or in a folder, or what is below a name in it.

    Raises:
        ConfigurationError: The library for URLs of this kind is missing, or it refuses the URL.
    """
    if isinstance(place, str) and is_url(place):
        if not place.lower().startswith("file://"):
            return _RemoteStore(place, below)
        place = Path(unquote(urlsplit(place).path))
    return FolderStore(Path(place) / below)


class FolderStore:
    """Objects that are files below a folder, which need not exist; a file is an object without a name."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.shown = folder, str(folder)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the objects below a prefix."""
        if not prefix and self._folder.is_file():
            return [""]
        files = (Path(at) / name for at, _, names in os.walk(self._folder / prefix) for name in names)
        # File systems and tools leave files such as .nfs0001.
        visible = (file for file in files if file.suffix != ".draft" and not file.name.startswith("."))
        return sorted(file.relative_to(self._folder).as_posix() for file in visible)

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield each of these objects that there is, with its name."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                yield name, (self._folder / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write an object, or replace it."""
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._folder / name, content)

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there; return False if it is."""
        path = self._folder / name
        draft = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}.draft")
        draft.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(content)
            os.link(draft, path)  # whole, or not at all
        except FileExistsError:
            return path.read_bytes() == content
        finally:
            draft.unlink(missing_ok=True)
        return True

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        (self._folder / name).unlink(missing_ok=True)


class TimedStore:
    """A store each of whose requests has an answer in time; one that comes later is ignored.

    Libraries repeat requests for minutes, and a file system that does not answer lets nothing end the process.

    Args:
        store: The store.
        limit: Returns the seconds in which a request must be answered.
    """

    def __init__(self, store: Store, limit: Callable[[], float]) -> None:
        self._store, self._limit, self.shown = store, limit, store.shown

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the objects below a prefix."""
        return self._ask(lambda: self._store.names(prefix))

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield each of these objects that there is, with its name."""
        yield from self._ask(lambda: list(self._store.read(names)))

    def write(self, name: str, content: bytes) -> None:
        """Write an object, or replace it."""
        self._ask(lambda: self._store.write(name, content))

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there; return False if it is, and was not written with this content."""
        return self._ask(lambda: self._store.create(name, content))

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        self._ask(lambda: self._store.delete(name))

    def _ask(self, request: Callable[[], T]) -> T:
        """Return the result of a request.

        Raises:
            StoreError: There is none in time.
        """
        answer, limit = Future[T](), self._limit()

        def ask() -> None:
            try:
                answer.set_result(request())
            except BaseException as error:  # noqa: BLE001 - raised where it was asked
                answer.set_exception(error)

        threading.Thread(target=ask, name="tau-request", daemon=True).start()
        if not wait([answer], limit).done:
            within = f" within {limit:.0f} seconds" if limit >= 1 else ""
            raise StoreError(f"{self.shown}: no answer{within}")
        return answer.result()


class _RemoteStore:
    """Objects behind a URL, through fsspec."""

    def __init__(self, url: str, below: str) -> None:
        self.shown = f"{public_url(url)}/{below}".rstrip("/")
        try:
            from fsspec.core import url_to_fs  # type: ignore[import-untyped]
        except ImportError:
            raise ConfigurationError(f"{self.shown}: URLs need fsspec: {install_extra('store')}") from None
        try:
            # What other machines write must be seen.
            self._files, path = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"{self.shown}: {self._problem(error, url)}") from None
        self._root = "/".join(filter(None, (path.rstrip("/"), below)))
        self._secrets = _secrets(url)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the objects below a prefix."""
        root = f"{self._root}/{prefix}".rstrip("/")
        try:
            paths = self._try(lambda: self._files.find(root))
        except FileNotFoundError:
            return []
        start = len(self._files._strip_protocol(self._root)) + 1  # noqa: SLF001 - as all of fsspec's classes have it
        return sorted(name[start:] for name in paths)

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield each of these objects that there is, with its name."""
        left = list(names)
        while left:
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            paths = {self._files._strip_protocol(self._path(name)): name for name in some}  # noqa: SLF001
            contents = self._try(partial(self._contents, list(paths)))
            yield from ((paths[path], content) for path, content in contents.items())

    def _contents(self, paths: list[str]) -> dict[str, bytes]:
        contents = self._files.cat(paths, on_error="return")
        contents = contents if isinstance(contents, dict) else {paths[0]: contents}
        for content in contents.values():
            if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                raise content
        return {path: content for path, content in contents.items() if isinstance(content, bytes)}

    def write(self, name: str, content: bytes) -> None:
        """Write an object, or replace it."""
        self._try(lambda: self._files.pipe_file(self._path(name), content))

    def create(self, name: str, content: bytes) -> bool:
        """Write an object that is not there; return False if it is, and was not written with this content."""
        try:
            self._try(lambda: self._files.pipe_file(self._path(name), content, mode="create"))
        except FileExistsError:
            # An attempt whose answer was lost may have written it.
            return any(there == content for _, there in self.read([name]))
        return True

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self._try(lambda: self._files.rm_file(self._path(name)))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def _try(self, request: Callable[[], T]) -> T:
        """Return the result of a request, which is repeated if it fails.

        Raises:
            StoreError: It failed each time.
            FileNotFoundError: There is no such object.
            FileExistsError: There is one already.
        """
        for delay in (*_DELAYS, None):
            try:
                return request()
            except (FileNotFoundError, FileExistsError):
                raise
            except Exception as error:  # noqa: BLE001 - each library has its own
                if _exists(error):
                    raise FileExistsError from None
                if delay is None or isinstance(error, _FINAL):
                    raise StoreError(f"{self.shown}: {self._problem(error)}") from None
            time.sleep(delay)
        raise AssertionError

    def _problem(self, error: Exception, url: str | None = None) -> str:
        """Return the text of an error without credentials."""
        from ..masking import mask_secrets

        text = str(error).splitlines()[0] if str(error) else ""
        for secret in self._secrets if url is None else _secrets(url):
            text = text.replace(secret, "***")
        return f"{type(error).__name__}: {mask_secrets(text)}".rstrip(": ")


def _exists(error: Exception) -> bool:
    """Return whether a store has refused to replace an object, in the words of S3."""
    return "PreconditionFailed" in str(error) or "ConditionalRequestConflict" in str(error)


def _secrets(url: str) -> list[str]:
    """Return the parts of a URL that may be credentials, the longest first."""
    rest = url.partition("://")[2]
    login = rest.partition("/")[0].rpartition("@")[0]
    query = re.split("[?#]", rest, maxsplit=1)[1:]
    values = (pair.partition("=")[2] for part in query for pair in re.split("[&#]", part))
    return sorted(filter(None, [login, *login.split(":"), *query, *values]), key=len, reverse=True)
