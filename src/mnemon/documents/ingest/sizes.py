"""How long chunks are, in tokens: as the settings say, and for the embedder that reads them."""

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mnemon.settings import Settings

# Word pieces that the embedder reads at once, its two marks aside: of a longer text the rest is another window.
WINDOW = 254
# Headings are embedded with the chunk; of a long path so many characters, from its end.
HEADING_CHARACTERS = 160
TARGET = 180


class ChunkSizes(BaseModel):
    """By default no chunk is longer than the embedder's window, its headings included. `turns` keeps the turns of a
    talk apart, each a chunk of its own."""

    model_config = ConfigDict(frozen=True)

    target: int = TARGET
    # Texts without talk up to this size are one chunk, whatever their sections.
    single_piece: int = 0
    # Tokens of the chunk before that a chunk begins with, within its section and turn.
    overlap: int = 0
    turns: bool = True

    @classmethod
    def of(cls, settings: "Settings") -> "ChunkSizes":
        return cls(
            target=settings.chunk_target_tokens,
            single_piece=settings.single_piece_max_tokens,
            overlap=min(settings.chunk_overlap_tokens, settings.chunk_target_tokens // 2),
        )

    @property
    def least(self) -> int:
        """Shorter ones are joined with a neighbour where there is one."""
        return self.target * 7 // 9

    @property
    def most(self) -> int:
        return self.target * 10 // 9

    @property
    def cap(self) -> int:
        """No chunk is longer, whatever is in it."""
        return self.target * 4 // 3

    @property
    def whole(self) -> int:
        """A table or list up to this size is not parted."""
        return self.target * 7 // 6

    @property
    def longest_piece(self) -> int:
        return self.target * 7 // 9

    def below_headings(self, tokens: int) -> "ChunkSizes":
        """For a section whose headings take so many tokens of the window."""
        room = max(WINDOW - tokens, WINDOW // 4)
        if self.target > TARGET or self.cap + self.overlap <= room:
            return self
        return self.model_copy(update={"target": max((room - self.overlap) * 3 // 4, 32)})


DEFAULT_SIZES = ChunkSizes()
# What semantic events are read from: more of the text around each statement than a search wants in a passage.
READING_SIZES = ChunkSizes(target=450, turns=False)
