"""``python -m bench +experiment=NAME [overrides]``: compose, run, record, draw."""

from __future__ import annotations

import itertools
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from bench.config.build import ConfigError, build, unknown
from bench.config.choices import check_choices
from bench.config.compose import KEYS, engine_of, experiment_of, listing, plain
from bench.core.cell import Plain
from bench.leaderboard.terminal import (
    missing_folder,
    print_listing,
    print_outcome,
    print_plan,
    print_words,
)
from bench.store.address import known_secrets, scrub
from bench.store.read_sweep import mean_seconds, told_of_older
from bench.store.tracking import Store, StoreError, existing_store, tracking_uri
from bench.study.session import HasWords, Session

USAGE = (
    "Run one: python -m bench +experiment=NAME [overrides]; more: python -m bench list=mechanisms"
)
BAD_INPUT, FAILED_CELLS, INTERRUPTED = 2, 1, 130
OWN_FOLDER = ("--config-dir", "-cd")
ASKED_ADDRESS = "BENCH_TRACKING_ADDRESS"


def run(config: DictConfig) -> int:
    """Run one composed configuration; return the exit code."""
    settings = plain(config)
    choices = HydraConfig.get().runtime.choices
    settings["name"] = settings["name"] or choices.get("experiment")
    if HydraConfig.get().mode is RunMode.MULTIRUN:  # one folder a job
        settings["output"] = f"{settings['output']}/multirun/{HydraConfig.get().job.num}"
        clean_file(Path(HydraConfig.get().sweep.dir) / "multirun.yaml")
    uri = tracking_uri(settings["tracking_uri"])
    if settings["run_id"] is not None:
        from bench.figures.__main__ import redraw

        return redraw(uri, settings["name"], str(settings["run_id"]), settings["output"])
    if settings["list"] is not None or settings["name"] is None:
        kind = settings["list"] or "experiments"
        sources = HydraConfig.get().runtime.config_sources
        print_listing(kind, listing(kind, [s.path for s in sources if s.schema == "file"]), USAGE)
        return 0
    settings["title"] = truthful_title(settings, HydraConfig.get().overrides.task)
    experiment = experiment_of(settings, choices.get("scenario"))
    engine = engine_of(settings)
    for label, figure in experiment.figures.items():
        build(figure, f"figure {label}")
    session = Session()
    cells = experiment.study.cells(session)
    if settings["dry_run"]:
        print_plan(
            cells, recorded_seconds(uri, experiment.name), getattr(engine, "workers", 1) or 1
        )
        return 0
    unwritable = missing_folder(experiment.output)
    if unwritable is not None:
        raise StoreError(unwritable)
    store = Store(uri)
    older = told_of_older(store, experiment.name)
    if older:
        sys.stderr.write(f"{older}\n")
    outcome = experiment.run(engine, store, cells, session, resume=settings["resume"])
    print_outcome(outcome, experiment.title, settings["show"], uri)
    if isinstance(experiment.study, HasWords):
        words = list(HydraConfig.get().overrides.task)
        print_words(experiment.study.words(outcome.listed, words))
    return FAILED_CELLS if outcome.summary.failed else 0


def truthful_title(settings: Plain, overrides: Sequence[str]) -> str:
    """Return the experiment's title, or what was asked for where the scenario is another one."""
    changed = [word for word in overrides if word.lstrip("+").startswith("scenario")]
    if not changed:
        return str(settings["title"] or settings["name"])
    return f"{settings['name']} with {' '.join(changed)}"


def recorded_seconds(uri: str, experiment: str) -> float | None:
    """Return the mean time of the recorded cells of an experiment, if there are any."""
    try:
        store = existing_store(uri)
    except StoreError:
        return None
    return mean_seconds(store, experiment)


def explain(error: BaseException) -> str:
    """Return one line for an error that the user can act on."""
    while isinstance(error, HydraException) and error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, OmegaConfBaseException) and lines:
        full = next((line for line in lines if line.startswith("full_key:")), "")
        key = full.removeprefix("full_key:").strip()
        if key and "." not in key:
            return f"{key}: {lines[0]}" if key in KEYS else unknown("key", key, KEYS)
        line = lines[0].replace("struct", "the configuration")
        return f"{line}; what an experiment does not set yet takes a plus: +grid.gap=[.1,.2]"
    if isinstance(error, OverrideParseException):
        return (
            f"{lines[0]}: write key=value, and values with spaces, punctuation or accents in "
            "quotes within quotes, \"key='a b (c)'\" or \"key=['é','ö']\"."
        )
    if any(line.startswith("Available options") for line in lines):
        lines = list(itertools.takewhile(lambda line: "search path" not in line, lines))
        return " ".join(lines[:2]) + " " + ", ".join(lines[2:])
    return " ".join(lines[:2])


def move_password(arguments: Sequence[str]) -> list[str]:
    """Move a tracking address with a password from the command line to the environment.

    Hydra writes the words of a command line into its own files and errors.
    """
    kept = []
    for word in arguments:
        if word.lstrip("+").startswith("tracking_uri=") and known_secrets([word]):
            override = OverridesParser.create().parse_override(word)
            address = override.value()
            if override.is_sweep_override() or not isinstance(address, str):
                raise ConfigError("a tracking address with a password must be the only one.")
            os.environ[ASKED_ADDRESS] = address
            word = f"{word.partition('=')[0]}=${{oc.env:{ASKED_ADDRESS}}}"
        kept.append(word)
    return kept


def import_from_own_folders(arguments: Sequence[str]) -> None:
    """Let components lie beside the YAML files that name them: in the folder of --config-dir.

    Worker processes start with the same path.
    """
    for word, following in itertools.pairwise([*arguments, ""]):
        option, equals, folder = word.partition("=")
        if option in OWN_FOLDER:
            path = str(Path(folder if equals else following).absolute())
            if path not in sys.path:
                sys.path.append(path)


def clean_file(path: Path) -> None:
    """Take the user and password of addresses out of a configuration that Hydra wrote."""
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        path.write_text(scrub(text), encoding="utf-8")


def tell(error: BaseException, secrets: Sequence[str]) -> None:
    """Write one line about an error; with ``BENCH_TRACEBACK`` set, its traceback."""
    if os.environ.get("BENCH_TRACEBACK"):
        text = "".join(traceback.format_exception(error))
    else:
        text = f"error: {explain(error)}\n"
    sys.stderr.write(scrub(text, secrets))


def main() -> int:
    """Run the command line; errors of the user's input are one line and exit code 2."""
    codes = []
    secrets = known_secrets(sys.argv[1:])

    @hydra.main(version_base="1.3", config_path="pkg://conf", config_name="config")
    def task(config: DictConfig) -> Any:  # noqa: ANN401
        try:
            codes.append(run(config))
        except (ValueError, TypeError, AttributeError, StoreError, LookupError, OSError) as error:
            tell(error, secrets)
            codes.append(BAD_INPUT)

    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors reach this function instead of a printed trace
    try:
        sys.argv[1:] = move_password(sys.argv[1:])
        import_from_own_folders(sys.argv[1:])
        check_choices(sys.argv[1:])
        task()
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        tell(error, secrets)
        return BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; recorded cells are kept, the same command goes on.\n")
        return INTERRUPTED
    except Exception as error:
        sys.stderr.write(scrub("".join(traceback.format_exception(error)), secrets))
        return FAILED_CELLS
    finally:
        os.environ.pop(ASKED_ADDRESS, None)
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
