"""A pack of memories for a task that begins: the most relevant, as one cited text within a budget of tokens."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from memoryhub.common.text import excerpt
from memoryhub.common.tokens import tokens_in
from spaces.domain.fences import HEADING, fenced, new_nonce
from spaces.models import Memory

SHORTEST = 40
"""Characters of a memory that is cut; less would say nothing."""


@dataclass(frozen=True)
class Packed:
    memory: Memory
    content: str

    @property
    def truncated(self) -> bool:
        return len(self.content) < len(self.memory.text)


@dataclass
class Pack:
    """Memories in order, whole as long as they fit; the first that doesn't is cut, and ends the pack."""

    limit: int
    nonce: str = field(default_factory=new_nonce)
    items: list[Packed] = field(default_factory=list)
    lines: list[str] = field(default_factory=lambda: [HEADING])

    @property
    def text(self) -> str:
        return "\n".join(self.lines) if self.items else ""

    @property
    def used(self) -> int:
        return tokens_in(self.text)

    def fits(self, line: str) -> bool:
        return tokens_in("\n".join([*self.lines, line])) <= self.limit

    def add(self, memory: Memory) -> bool:
        """Whether there is room for another one after it."""
        whole = self.fits(fenced(memory, memory.text, self.nonce))
        content = memory.text if whole else self.beginning(memory)
        if content:
            self.items.append(Packed(memory, content))
            self.lines.append(fenced(memory, content, self.nonce))
        return whole

    def beginning(self, memory: Memory) -> str:
        """As much of it as fits; nothing if that is too little."""
        lengths = range(SHORTEST, len(memory.text))
        fitting = bisect_right(
            lengths,
            False,
            key=lambda length: not self.fits(fenced(memory, excerpt(memory.text, length), self.nonce)),
        )
        return excerpt(memory.text, lengths[fitting - 1]) if fitting else ""


def pack(memories: Sequence[Memory], *, max_tokens: int) -> Pack:
    packed = Pack(max_tokens)
    for memory in memories:
        if not packed.add(memory):
            break
    return packed
