"""Promises and what was said later, labelled by hand before the rules for them were written: was the promise kept?

Each case is a promise and a later text, or one talk that holds both. `True` means that a careful reader would tick the
promise off on the strength of the later words alone.
"""

from dataclasses import dataclass

from mnemon.semantics.extract.revision import SourceType


@dataclass(frozen=True)
class Said:
    text: str
    type: SourceType = "note"
    sender: str | None = None


@dataclass(frozen=True)
class Case:
    kept: bool
    said: tuple[Said, ...]


def _notes(kept: bool, *texts: str) -> Case:
    return Case(kept, tuple(Said(text) for text in texts))


def _talk(kept: bool, *lines: str) -> Case:
    return Case(kept, (Said("\n".join(lines), "chat"),))


def _mails(kept: bool, *mails: tuple[str, str]) -> Case:
    return Case(kept, tuple(Said(text, "email", sender) for sender, text in mails))


CASES = (
    # Reported with the verb of the promise, or another for finished work.
    _notes(True, "Alice will write the postmortem by Friday.", "Alice wrote the postmortem."),
    _notes(True, "Ben Okafor will send the quarterly report by 9 March.", "Ben Okafor sent the quarterly report."),
    _notes(True, "Carla Silva will update the price list.", "Carla Silva has updated the price list."),
    _notes(True, "Dmitri will fix the login page by Monday.", "Dmitri fixed the login page yesterday."),
    _notes(True, "Ada Byron will prepare the slides for the board.",
           "The slides for the board were prepared by Ada Byron."),
    _notes(True, "Ben Okafor will call the insurance company.", "Ben Okafor called the insurance company."),
    _notes(True, "Ada Byron will review the draft contract by Tuesday.", "Ada Byron reviewed the draft contract."),
    # Said of the thing alone.
    _notes(True, "Ada Byron will finish the migration script by Friday.", "The migration script is done."),
    _notes(True, "Ada Byron will deliver the site plan by 4 May.", "The site plan is ready."),
    _notes(True, "Ben Okafor will write the release notes.", "The release notes are finished."),
    _notes(True, "Ben Okafor will set up the staging server.", "The staging server is up and running."),
    _notes(True, "Carla Silva will book the venue by Thursday.", "The venue has been booked."),
    _notes(True, "Dmitri will submit the grant application by 1 June.", "Grant application: submitted."),
    _notes(True, "Ada Byron will send the invoice by 9 March 2026.", "Invoice sent."),
    # Ticked boxes and states.
    _notes(True, "Action items\n\n- [ ] Ada: call the landlord", "Action items\n\n- [x] Ada: call the landlord"),
    _notes(True, "Ben Okafor will order new chairs by Friday.", "- [x] Order new chairs (Ben Okafor)"),
    _notes(True, "Tasks\n\n- [ ] Carla: translate the brochure", "Tasks\n\n- [X] Carla: translate the brochure"),
    _notes(True, "Ada Byron will renew the certificate by 1 April.",
           "| Task | Owner | Status |\n|---|---|---|\n| Renew the certificate | Ada Byron | done |\n"),
    # Talk: the one who promised says that it is done.
    _talk(True, "Ada: I'll send the report by Friday.", "Ben: Thanks!", "Ada: I sent the report."),
    _talk(True, "Ada: I'll send the report today.", "Ben: Great.", "Ada: Sent."),
    _talk(True, "Ada: I will upload the contract tonight.", "Ada: Done."),
    _talk(True, "Ben: I'll restart the billing worker now.", "Ada: ok", "Ben: done, it is back"),
    _talk(True, "Ben: I'll push the hotfix by noon.", "Ada: any news on the hotfix?", "Ben: hotfix pushed"),
    _mails(True, ("Ada Byron", "Hi Ben,\n\nI will send you the signed lease by Monday.\n\nAda"),
           ("Ada Byron", "Hi Ben,\n\nI have sent you the signed lease.\n\nAda")),
    # Not kept: not done, not yet, partly, planned, denied, asked.
    _notes(False, "Ada Byron will finish the migration script by Friday.", "The migration script is not done."),
    _notes(False, "Ada Byron will finish the migration script by Friday.", "The migration script is almost done."),
    _notes(False, "Ada Byron will finish the migration script by Friday.", "Is the migration script done?"),
    _notes(False, "Ada Byron will finish the migration script by Friday.",
           "The migration script will be done on Monday."),
    _notes(False, "Ada Byron will finish the migration script by Friday.",
           "Once the migration script is done we can start."),
    _notes(False, "Ben Okafor will write the release notes.", "The release notes are half finished."),
    _notes(False, "Ben Okafor will send the quarterly report by 9 March.",
           "Ben Okafor has not sent the quarterly report."),
    _notes(False, "Ben Okafor will order new chairs by Friday.", "- [ ] Order new chairs (Ben Okafor)"),
    # Not kept: somebody else, or something else.
    _notes(False, "Alice will write the postmortem by Friday.", "Bob wrote the postmortem."),
    _notes(False, "Ada Byron will finish the migration script by Friday.", "The deployment script is done."),
    _notes(False, "Ada Byron will send the invoice by 9 March 2026.", "Ada Byron sent the reminder."),
    _notes(False, "Ada Byron will send the March report.", "Ada Byron sent the February report."),
    _notes(False, "Carla Silva will book the venue by Thursday.", "Carla Silva visited the venue."),
    _notes(False, "Carla Silva will translate the brochure.", "Carla Silva received the brochure from the printer."),
    _notes(False, "Action items\n\n- [ ] Ada: call the landlord", "Action items\n\n- [x] Ada: call the plumber"),
    _notes(False, "Action items\n\n- [ ] Ada: call the landlord", "Action items\n\n- [x] Ben: call the landlord"),
    # Talk: "sent" and "done" of somebody else, or of something else, or after other promises.
    _talk(False, "Ada: I'll send the report today.", "Ben: Sent."),
    _talk(False, "Ada: I'll send the report today.", "Ada: Fixed."),
    _talk(False, "Ada: I will upload the contract tonight.", "Ben: I'm done with lunch.", "Ada: Enjoy."),
    _talk(False, "Ada: I'll send the report by Friday.", "Ada: Not sent yet."),
    _talk(False, "Ben: I'll push the hotfix by noon.", "Ada: hotfix pushed?", "Ben: not yet"),
    _mails(False, ("Ada Byron", "Hi Ben,\n\nI will send you the signed lease by Monday.\n\nAda"),
           ("Ben Okafor", "Hi Ada,\n\nI have sent you the signed lease.\n\nBen")),
)  # fmt: skip
