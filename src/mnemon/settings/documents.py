"""Settings of what is taken in: uploads, mail, reading and cutting."""

from typing import Literal

from pydantic import BaseModel, SecretStr

from mnemon.settings.part import Folder, TextList, setting


class DocumentSettings(BaseModel):
    """What is taken in: uploads, mail, reading and cutting."""

    upload_store_path: Folder | None = setting(
        None,
        "Folder for uploads that wait for their run. Unset: `uploads` in the home folder.",
        "UPLOAD_STORE_PATH",
    )
    upload_max_size_mb: int = setting(
        50, "Largest file that is taken in, in MB of 1,048,576 bytes.", "UPLOAD_MAX_SIZE_MB", ge=1, le=4_096
    )
    upload_max_files: int = setting(100, "Most files in one upload.", ge=1, le=10_000)
    upload_idle_seconds: int = setting(
        60, "An upload that sends nothing for this long is ended; a slow one is not.", ge=1, le=3_600
    )
    mail_imap_password: SecretStr | None = setting(
        None, "The password of the IMAP accounts that mail is fetched from; best one for programs alone."
    )
    upload_cleanup_ttl_hours: int = setting(
        24, "How long a file that belongs to no run is kept.", "UPLOAD_CLEANUP_TTL_HOURS", ge=1, le=8_760
    )
    upload_failed_ttl_days: int = setting(
        7,
        "How long the file of a failed run is kept, so that it can be retried.",
        "UPLOAD_FAILED_TTL_DAYS",
        ge=1,
        le=3_650,
    )
    source_folders: TextList = setting(
        (),
        "Folders of this machine that sources may be in, separated by commas. A bare one is for the first tenant, "
        "`main`; `acme=/srv/acme` is for the tenant acme. Empty: none.",
    )
    watch_folders: TextList = setting(
        (),
        "Folders of this machine that `mnemon serve` follows by itself, in the same form: what is new, changed or gone "
        "there is so here within seconds. Empty: none.",
    )
    source_s3_endpoints: TextList = setting(
        (),
        "Addresses of S3-compatible stores that administrators may name as sources, separated by commas. Amazon's own "
        "may be named always.",
    )
    chunk_target_tokens: int = setting(
        180,
        "Wanted length of a passage, in the embedder's tokens; the longest has a third more. Turns of a talk are "
        "passages of their own. Beyond 180 a passage no longer fits the local embedder's window of 256, and its vector "
        "is the mean of several.",
        "CHUNK_TARGET_TOKENS",
        ge=60,
        le=4_000,
    )
    single_piece_max_tokens: int = setting(
        0,
        "A text without talk of at most so many tokens is one passage, whatever its sections. 0: sections stay apart.",
        "SINGLE_PIECE_MAX_TOKENS",
        ge=0,
        le=8_000,
    )
    chunk_overlap_tokens: int = setting(
        0,
        "Tokens of the passage before that a passage begins with, at most half of its length. 0: none, a passage is "
        "ranked with its neighbours anyway.",
        "CHUNK_OVERLAP_TOKENS",
        ge=0,
        le=2_000,
    )
    extract_seconds: int = setting(
        120, "Processor time that reading one file may take; three times as long by the clock.", ge=1, le=3_600
    )
    extract_memory_mb: int = setting(
        1_024, "Most memory that reading one file may use, in a process of its own.", ge=256, le=65_536
    )
    extract_pages: int = setting(2_000, "Most pages of a PDF.", ge=1, le=100_000)
    extract_characters: int = setting(10_000_000, "Most characters of text in one file.", ge=1_000, le=100_000_000)
    extract_chunks: int = setting(
        10_000, "Most passages that one file may make; each of them is embedded.", ge=100, le=1_000_000
    )
    extract_expanded_mb: int = setting(
        256, "Most that an office file, a book or an archive may unpack to.", ge=1, le=4_096
    )

    ocr: Literal["auto", "off"] = setting(
        "auto", "Text in pictures and scanned PDFs: recognised where Tesseract is installed, or never."
    )
    ocr_languages: str = setting(
        "eng",
        "Languages of text in pictures, as Tesseract names them, joined by +, such as eng+deu; each must be installed.",
        pattern=r"^[A-Za-z_]{3,20}(\+[A-Za-z_]{3,20}){0,9}$",
    )
