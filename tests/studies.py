"""Studies in files: read, run, and their results."""

from pathlib import Path

from lehner import Study


def run_study(path, output=None, **options):
    return Study.read(path).run(output or Path(path).stem, **options).table


def read_results(folder):
    return Study.read(folder).collect(folder).table


def export(folder, file):
    return Study.read(folder).collect(folder).export(file)


def table(folder):
    """What `StudyResults.export` writes."""
    return export(folder, Path(folder).with_suffix(".csv")).read_bytes()


def write_report(folder):
    return Study.read(folder).collect(folder).report()
