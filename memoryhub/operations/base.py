"""One definition of each thing a caller can do; MCP tools, REST routes and the docs all come from it."""

import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accounts.actor import Actor
from accounts.domain.limits import spend_write
from accounts.scopes import Scope
from memoryhub.common.errors import Forbidden, HubError, InvalidRequest, ValidationFailed, from_pydantic
from memoryhub.common.tenancy import in_tenant
from memoryhub.common.text import check_text
from memoryhub.operations.fields import is_empty
from memoryhub.operations.schema import Schema, input_schema, output_schema, shallow, without
from memoryhub.operations.screening import screened
from memoryhub.operations.tolerance import renamed, tolerate

NAME = re.compile(r"[a-z0-9_]{1,40}")
DESCRIPTION_LIMIT = 2048
GENERIC = "generic"


class Effect(StrEnum):
    """What calling does to what is stored; gives the MCP hints."""

    READ = "read"
    ADD = "add"
    SET = "set"
    DESTROY = "destroy"


class Input(BaseModel):
    """An operation's arguments. Types are exact: `tolerate` has done the converting that is allowed.

    `aliases` are names that other clients use → ours (`a.b` is the member b of the argument a, and
    nothing is what we do without). No schema has them.
    """

    model_config = ConfigDict(extra="ignore", strict=True, populate_by_name=True, frozen=True)
    aliases: ClassVar[Mapping[str, str]] = {}

    each: ClassVar[str] = ""
    """The argument whose members are written each by itself: one that is refused leaves the others alone."""

    @classmethod
    def check(cls, raw: Mapping[str, Any]) -> None:
        """Refuse text that can't be stored, before anything reads it."""
        check_text(raw)


class Output(BaseModel):
    """An operation's answer."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    warnings: list[str] = Field(default_factory=list, exclude_if=is_empty)


@dataclass(frozen=True)
class Route:
    """Where REST serves an operation, below /v1/. `{name}` takes a path segment, `{name:path}` the rest."""

    method: str
    path: str
    status: int = 200


@dataclass(frozen=True, eq=False)
class Operation:
    """One thing a caller can do. Calling it is the only road in from outside.

    The scopes of any of its `ways` are enough.
    `generic_only` are arguments that clients of another profile neither see nor may send.
    One that `asks_first` waits for something outside, such as the vector of a question, before its handler's
    one call opens the account: no transaction is open and no connection taken meanwhile.
    """

    name: str
    family: str
    title: str
    description: str
    ways: tuple[tuple[Scope, ...], ...]
    effect: Effect
    route: Route | None
    handler: Callable[[Actor, Any], Output]
    input: type[Input]
    output: type[Output]
    rest_input: type[Input] | None = None
    rest_output: type[Output] | None = None
    mcp: bool = True
    open_world: bool = False
    asks_first: bool = False
    generic_only: frozenset[str] = frozenset()

    def __call__(self, actor: Actor, raw: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Check families and scopes, read the arguments, run inside the account, answer plain JSON. Raises
        HubError."""
        check_family(actor, self.family)
        self.check_scopes(actor)
        self.check_profile(actor, raw or {})
        if self.effect is not Effect.READ and actor.key_id:
            spend_write(actor.key_id)
        sent = screened(
            actor,
            self.tolerated(raw or {}),
            self.arguments,
            each=self.input.each,
            stores=self.stores,
            whole=self.whole,
            by_path=self.by_path,
        )
        args, ignored = self.read(sent.value)
        run = partial(self.run, actor, args)
        answer = run() if self.asks_first else in_tenant(actor.account_id, run)
        if isinstance(answer, HubError):
            raise answer
        if ignored:
            answer["warnings"] = [
                *answer.get("warnings", []),
                *(f"Ignored unknown argument: {n}" for n in ignored),
            ]
        if sent.categories:
            answer["redactions"] = sent.told
        return answer

    def run(self, actor: Actor, args: Any) -> dict[str, Any] | HubError:
        """A refusal rolls the transaction back by being raised; one that keeps its writes is answered."""
        try:
            return self.handler(actor, args).model_dump(mode="json")
        except HubError as refusal:
            if not refusal.keeps_writes:
                raise
            return refusal

    def check_scopes(self, actor: Actor) -> None:
        if missing := self.missing_scopes(actor):
            lacking = self.told_scopes if len(self.ways) > 1 else ", ".join(missing)
            raise Forbidden(f"This credential lacks the scope {lacking}.", missing_scopes=missing)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(scope for way in self.ways for scope in way)

    @property
    def told_scopes(self) -> str:
        both = " with " if len(self.ways) > 1 else ", "
        return " or ".join(both.join(way) for way in self.ways)

    def missing_scopes(self, actor: Actor) -> list[str]:
        if any(actor.scopes.issuperset(way) for way in self.ways):
            return []
        return [str(s) for s in self.scopes if s not in actor.scopes]

    def check_profile(self, actor: Actor, raw: Mapping[str, Any]) -> None:
        sent = [name for name in self.hidden_from(actor.profile) if raw.get(name) is not None]
        if sent:
            raise ValidationFailed({name: ["Is not for this kind of client. Leave it out."] for name in sent})

    def hidden_from(self, profile: str) -> list[str]:
        return [] if profile == GENERIC else sorted(self.generic_only)

    def visible_to(self, actor: Actor) -> bool:
        return self.family in actor.families and not self.missing_scopes(actor)

    @property
    def stores(self) -> bool:
        return self.effect in (Effect.ADD, Effect.SET)

    @property
    def whole(self) -> bool:
        """Nothing in it may be altered: what is sent outside, and what says which things to delete."""
        return self.open_world or self.effect is Effect.DESTROY

    @property
    def by_path(self) -> bool:
        """Whether a path below `projects/` names the space that is written to. Elsewhere a path is only a label."""
        return self.family == "paths"

    def tolerated(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """All that was sent, read as sloppy clients mean it."""
        raw = renamed(raw, self.input.aliases)
        known = tolerate({n: v for n, v in raw.items() if n in self.arguments}, self.arguments)
        return {**known, **{n: v for n, v in raw.items() if n not in self.arguments}}

    def read(self, sent: Mapping[str, Any]) -> tuple[Any, list[str]]:
        """The validated arguments, and the names of those that no one knows."""
        ignored = sorted(n for n in sent if n not in self.arguments)
        if ignored and self.effect is Effect.DESTROY:
            raise InvalidRequest(
                f"{ignored[0]}: Is not an argument of {self.name}. Nothing was done; check its spelling.",
                unknown=ignored,
            )
        known = {n: v for n, v in sent.items() if n in self.arguments}
        self.input.check(known)
        try:
            return self.input.model_validate(known), ignored
        except ValidationError as error:
            raise from_pydantic(error, ignored) from None

    @cached_property
    def over_rest(self) -> "Operation":
        """The same operation with the arguments that only REST takes, and what it answers there."""
        return replace(self, input=self.rest_input or self.input, output=self.rest_output or self.output)

    @cached_property
    def input_schema(self) -> Schema:
        return input_schema(self.input)

    @cached_property
    def output_schema(self) -> Schema:
        return output_schema(self.output)

    @cached_property
    def arguments(self) -> dict[str, Schema]:
        """Argument name → its schema."""
        properties: dict[str, Schema] = self.input_schema["properties"]
        return properties

    def tool_json(self, profile: str = GENERIC) -> dict[str, Any]:
        """The tool as MCP lists it to clients of that profile. Lists are paid for in every session: what objects
        in the answer hold is told by the answer, and by OpenAPI."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": without(self.input_schema, self.hidden_from(profile)),
            "outputSchema": shallow(self.output_schema),
            "annotations": self.hints(),
        }

    def hints(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "readOnlyHint": self.effect is Effect.READ,
            "destructiveHint": self.effect is Effect.DESTROY,
            "idempotentHint": self.effect is not Effect.ADD,
            "openWorldHint": self.open_world,
        }


def check_family(actor: Actor, family: str) -> None:
    """A key that was given some families has nothing of the others, whichever way it comes."""
    if family not in actor.families:
        given = ", ".join(sorted(actor.families))
        raise Forbidden(
            f"This key is for the tools of {given} alone; this belongs to {family}.",
            missing_families=[family],
        )


@dataclass
class Registry:
    """Every operation, by family and name, in the order of definition."""

    operations: dict[tuple[str, str], Operation] = field(default_factory=dict)

    def add(self, operation: Operation) -> None:
        key = (operation.family, operation.name)
        if key in self.operations:
            raise ValueError(f"{operation.family} has an operation {operation.name} already")
        if not NAME.fullmatch(operation.name) or not 0 < len(operation.description) < DESCRIPTION_LIMIT:
            raise ValueError(f"{operation.name}: a short name and a description are required")
        self.operations[key] = operation

    def all(self) -> list[Operation]:
        return list(self.operations.values())

    def tools(self, family: str | None = None) -> list[Operation]:
        return [o for o in self.all() if o.mcp and family in (None, o.family)]

    def routes(self) -> list[Operation]:
        """What REST serves, with the arguments it takes there."""
        return [o.over_rest for o in self.all() if o.route]

    def get(self, name: str, family: str | None = None) -> Operation | None:
        return next((o for o in self.all() if o.name == name and family in (None, o.family)), None)


REGISTRY = Registry()

Handler = Callable[[Actor, Any], Output]


def operation(
    family: str,
    *,
    title: str,
    scopes: Iterable[Scope] = (),
    any_of: Iterable[Scope | tuple[Scope, ...]] = (),
    effect: Effect,
    route: Route | None = None,
    rest_input: type[Input] | None = None,
    rest_output: type[Output] | None = None,
    mcp: bool = True,
    open_world: bool = False,
    asks_first: bool = False,
    generic_only: Iterable[str] = (),
) -> Callable[[Handler], Operation]:
    """Define an operation: the function's name is the tool's, its docstring the description.

    A caller needs all of the `scopes`; or, of `any_of`, one, which may be several together.

    `rest_input` extends the handler's Input by arguments that REST takes and MCP does not, and `rest_output`
    its Output by what is answered then.
    """

    def define(handler: Handler) -> Operation:
        hints = typing.get_type_hints(handler)
        defined = Operation(
            name=handler.__name__,
            family=family,
            title=title,
            description=re.sub(r"\s+", " ", handler.__doc__ or "").strip(),
            ways=tuple(s if isinstance(s, tuple) else (s,) for s in any_of) or (tuple(scopes),),
            effect=effect,
            route=route,
            handler=handler,
            input=hints["args"],
            output=hints["return"],
            rest_input=rest_input,
            rest_output=rest_output,
            mcp=mcp,
            open_world=open_world,
            asks_first=asks_first,
            generic_only=frozenset(generic_only),
        )
        REGISTRY.add(defined)
        return defined

    return define
