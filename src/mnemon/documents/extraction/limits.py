"""How much a foreign file may ask for, and what may be done for it."""

from pydantic import BaseModel, ConfigDict

from mnemon.documents.extraction.errors import ExtractionFailed


class Limits(BaseModel):
    """The most that extraction takes from one file; more fails the run, with the figure."""

    model_config = ConfigDict(frozen=True)

    pages: int = 2_000
    characters: int = 10_000_000
    expanded_bytes: int = 256 << 20
    blocks: int = 250_000
    chunks: int = 10_000
    # The languages in which text of pictures is recognised, as Tesseract names them; none: it is not.
    recognise: str = ""

    def check_characters(self, count: int) -> None:
        if count > self.characters:
            raise ExtractionFailed(
                f"The file holds more than {self.characters:,} characters of text: split it, "
                "or raise MNEMON_EXTRACT_CHARACTERS.",
                reason="too_long",
            )

    def check_blocks(self, count: int) -> None:
        if count > self.blocks:
            raise ExtractionFailed(
                f"The file has {count:,} paragraphs, the limit is {self.blocks:,}: split it.", reason="too_long"
            )

    def check_chunks(self, count: int) -> None:
        if count > self.chunks:
            raise ExtractionFailed(
                f"The file makes {count:,} passages, the limit is {self.chunks:,}: split it, join its shortest "
                "sections, or raise MNEMON_EXTRACT_CHUNKS.",
                reason="too_many_chunks",
            )

    def check_pages(self, count: int) -> None:
        if count > self.pages:
            raise ExtractionFailed(
                f"The file has {count:,} pages, the limit is {self.pages:,}: split it, or raise MNEMON_EXTRACT_PAGES.",
                reason="too_many_pages",
            )

    def check_expanded(self, size: int) -> None:
        if size > self.expanded_bytes:
            raise ExtractionFailed(
                f"The file unpacks to more than {self.expanded_bytes >> 20} MB: save it smaller, "
                "or raise MNEMON_EXTRACT_EXPANDED_MB.",
                reason="too_large_unpacked",
            )


DEFAULT_LIMITS = Limits()
