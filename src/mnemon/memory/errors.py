"""What memory refuses, and why."""

from mnemon.errors import Conflict, InvalidRequest, MnemonError, NotAllowed, NotFound


class MemoryNotFound(NotFound):
    """No such object in this world and branch, or it is deleted."""

    code = "MEMORY_NOT_FOUND"


class MemoryDeleted(MnemonError):
    """The object is deleted; restore it to change it."""

    code = "MEMORY_DELETED"
    status = 410


class MemoryConflict(Conflict):
    """The object has moved on since the caller looked; details name the expected and the current version."""

    code = "MEMORY_VERSION_CONFLICT"
    retry = True


class DuplicateChange(Conflict):
    """The change was made before: its idempotency key is taken. Details name the object and version."""

    code = "MEMORY_DUPLICATE"


class InvalidMemory(InvalidRequest):
    """The request for a memory object does not have the documented form."""

    code = "MEMORY_INVALID"
    status = 400


class BranchNotFound(NotFound):
    """No such branch in this world."""

    code = "BRANCH_NOT_FOUND"


class BranchClosed(Conflict):
    """The branch is merged or abandoned and takes no more changes."""

    code = "BRANCH_CLOSED"


class MergeConflicts(Conflict):
    """Both sides changed the same things; details list them, and the caller's resolutions settle them."""

    code = "MERGE_CONFLICTS"


class PersonNeeded(NotAllowed):
    """The branch was made to be accepted by a person, and an agent tried to merge it."""

    code = "PERSON_NEEDED"


class CompactionRefused(Conflict):
    """The snapshot does not replay to the present state, or there is nothing to compact; nothing was changed."""

    code = "COMPACTION_REFUSED"


class SubjectDiffers(Conflict):
    """An object is about one person from its beginning; what is about another belongs into another object."""

    code = "MEMORY_SUBJECT_DIFFERS"
