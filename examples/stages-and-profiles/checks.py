"""A custom gate: no debug output."""

from dataclasses import dataclass

from untilgreen import CheckContext, Finding, Verdict


@dataclass(frozen=True)
class NoPrint:
    """Fails while a module prints."""

    allowed: tuple[str, ...] = ()

    async def check(self, workspace: CheckContext) -> Verdict:
        """Return one finding for each module that prints."""
        loud = [
            path.name
            for path in sorted(workspace.root.glob("*.py"))
            if path.name not in (*self.allowed, "checks.py") and "print(" in path.read_text()
        ]
        findings = tuple(Finding(id=name, message=f"{name} prints", file=name) for name in loud)
        return Verdict(status="fail" if findings else "pass", findings=findings)
