"""Which public crowds have truth: their repositories, licences, files and who reads them."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from experiments.benchmarks.real import readers
from lehner import InputError, Ratings
from lehner.core.checks import find

type Reader = Callable[[Sequence[Path]], Ratings]


@dataclass(frozen=True, kw_only=True)
class Repository:
    """Where files come from.

    Parameters
    ----------
    address : str
    licence : str
        As its files say.
    """

    address: str
    licence: str

    @property
    def folder(self) -> str:
        """Its name: what cloning it calls the folder."""
        return self.address.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Source:
    """One crowd.

    Parameters
    ----------
    name : str
    repository : Repository
    files : tuple of str
        Paths in the repository.
    reader : callable
        From these files to ratings with truth.
    family : str
        Shared by crowds that rated the same items or came from the same study.
    """

    name: str
    repository: Repository
    files: tuple[str, ...]
    reader: Reader
    family: str

    @property
    def split(self) -> str:
        """Give "report" for about a third of the families, by a hash of their name, else "choose".

        Models may be chosen by the crowds of "choose". Those of "report" are to be looked at once,
        when everything is chosen.
        """
        digest = hashlib.sha256(self.family.encode()).hexdigest()
        return "report" if int(digest, 16) % 3 == 0 else "choose"

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Give where its files are expected."""
        return tuple(folder / self.repository.folder / file for file in self.files)


CROWDS = Repository(
    address="https://github.com/yuan-li/truth-inference-at-scale", licence="MIT (its LICENSE)"
)
CROWDTRUTH = Repository(
    address="https://github.com/CrowdTruth/CrowdTruth-core", licence="Apache-2.0 (its LICENSE)"
)
TROIA = Repository(
    address="https://github.com/ipeirotis/Get-Another-Label",
    licence="Apache-2.0 (its LICENSE-2.0.html)",
)
LLMBAR = Repository(address="https://github.com/princeton-nlp/LLMBar", licence="MIT (its LICENSE)")
JUDGEBENCH = Repository(
    address="https://github.com/ScalerLab/JudgeBench", licence="none stated: do not pass on"
)
CARE = Repository(
    address="https://github.com/SprocketLab/CARE", licence="none stated: do not pass on"
)
READERS = Repository(
    address="https://github.com/brian-j-smith/MRMCaov", licence="GPL-3 (its DESCRIPTION)"
)

_TWO_FILES = {
    "bluebird": "SpectralMethodsMeetEM/bluebird",
    "dog": "SpectralMethodsMeetEM/dog",
    "rte": "SpectralMethodsMeetEM/rte",
    "trec": "SpectralMethodsMeetEM/trec",
    "web": "SpectralMethodsMeetEM/web",
    "CF": "active-crowd-toolkit/CF",
    "CF_amt": "active-crowd-toolkit/CF_amt",
    "MS": "active-crowd-toolkit/MS",
    "SP": "active-crowd-toolkit/SP",
    "SP_amt": "active-crowd-toolkit/SP_amt",
    "ZenCrowd_all": "active-crowd-toolkit/ZenCrowd_all",
    "ZenCrowd_in": "active-crowd-toolkit/ZenCrowd_in",
    "ZenCrowd_us": "active-crowd-toolkit/ZenCrowd_us",
    "product": "crowd_truth_inference/d_jn-product",
    "senti": "crowd_truth_inference/d_sentiment",
    "face": "crowd_truth_inference/s4_Face Sentiment Identification",
    "relevance": "crowd_truth_inference/s4_Relevance",
    "adult": "crowd_truth_inference/s5_AdultContent",
    "fact": "crowdscale2013/fact_eval",
}
_FAMILIES = {"CF_amt": "CF", "SP_amt": "SP", "relevance": "trec"}
_TREATMENTS = {"VanDyke": "12", "Kundel": "123", "Franken": "12"}
_PAIR_JUDGES = ("ChatGPT", "ChatGPT-0301", "Falcon", "GPT-4", "LLaMA2", "PaLM2")
_ADVERSARIAL = ("GPTInst", "GPTOut", "Manual", "Neighbor")
_JUDGES = (
    "arena_hard,judge_model=o1-mini-2024-09-12",
    "reward_model,judge_model=Ray2333_GRM-Gemma-2B-rewardmodel-ft",
    "reward_model,judge_model=Skywork_Skywork-Reward-Gemma-2-27B",
    "reward_model,judge_model=Skywork_Skywork-Reward-Llama-3.1-8B",
    "reward_model,judge_model=internlm_internlm2-20b-reward",
    "reward_model,judge_model=internlm_internlm2-7b-reward",
)
_SCORERS = (
    "Llama-3.1-8B-Instruct",
    "Llama-3.2-1B",
    "Llama-3.2-1B-Instruct",
    "Llama-3.2-3B",
    "Llama-3.2-3B-Instruct",
    "Meta-Llama-3-8B-Instruct",
    "Mistral-7B-Instruct-v0.2",
    "Mistral-7B-Instruct-v0.3",
    "Phi-4-mini-instruct",
    "Qwen2.5-0.5B-Instruct",
    "Qwen2.5-1.5B-Instruct",
    "Qwen2.5-14B-Instruct",
    "Qwen2.5-3B-Instruct",
    "Qwen2.5-7B-Instruct",
    "Qwen3-0.6B",
    "Qwen3-1.7B",
    "Qwen3-4B",
    "Qwen3-8B",
    "Yi-1.5-6B-Chat",
    "Yi-1.5-9B-Chat",
    "deepseek-llm-7b-chat",
    "gemma-2-9b-it",
    "gemma-3-1b-it",
    "gemma-3-4b-it",
)


def _pair_files(*subsets: str) -> tuple[str, ...]:
    return tuple(
        f"Dataset/LLMBar/{subset}/evaluators/{judge}/Vanilla/result.json"
        for subset in subsets
        for judge in _PAIR_JUDGES
    )


SOURCES = {
    source.name: source
    for source in (
        *(
            Source(
                name=name,
                repository=CROWDS,
                files=(f"data/{path}/label.csv", f"data/{path}/truth.csv"),
                reader=readers.read_label_and_truth,
                family=_FAMILIES.get(name, name.partition("_")[0]),
            )
            for name, path in _TWO_FILES.items()
        ),
        *(
            Source(
                name=name,
                repository=CROWDTRUTH,
                files=(f"tutorial/data/{name}.standardized.csv",),
                reader=readers.read_responses,
                family=name,
            )
            for name in ("temp", "wsd")
        ),
        Source(
            name="tweets",
            repository=TROIA,
            files=("data/BarzanMozafari/labels.txt", "data/BarzanMozafari/evaluation.txt"),
            reader=readers.read_worker_item_label,
            family="tweets",
        ),
        *(
            Source(
                name=f"{study}_{treatment}",
                repository=READERS,
                files=(f"data/{study}.RData",),
                reader=partial(readers.read_readings, treatment=treatment),
                family=study,
            )
            for study, treatments in _TREATMENTS.items()
            for treatment in treatments
        ),
        Source(
            name="LLMBar_natural",
            repository=LLMBAR,
            files=_pair_files("Natural"),
            reader=readers.read_pair_judges,
            family="LLMBar",
        ),
        Source(
            name="LLMBar_adversarial",
            repository=LLMBAR,
            files=_pair_files(*(f"Adversarial/{subset}" for subset in _ADVERSARIAL)),
            reader=readers.read_pair_judges,
            family="LLMBar",
        ),
        Source(
            name="JudgeBench",
            repository=JUDGEBENCH,
            files=tuple(
                "outputs/dataset=judgebench,response_model=gpt-4o-2024-05-13,"
                f"judge_name={judge}.jsonl"
                for judge in _JUDGES
            ),
            reader=readers.read_judgments,
            family="JudgeBench",
        ),
        Source(
            name="CARE",
            repository=CARE,
            files=tuple(
                f"judge_outputs/gaussian_mixture/civilcomments/{scorer}.csv" for scorer in _SCORERS
            ),
            reader=readers.read_scores,
            family="CARE",
        ),
    )
}


def find_sources(names: Sequence[str] = ()) -> list[Source]:
    """Look crowds up by name; without names, give all.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If there is no such crowd, with the nearest name.

    Examples
    --------
    >>> [source.split for source in find_sources(["rte", "face"])]
    ['choose', 'report']
    """
    return [find("crowd", name, SOURCES) for name in names or SOURCES]


def describe(sources: Sequence[Source]) -> Iterator[str]:
    """Say which files come from where, under which licence, and where to put them.

    Parameters
    ----------
    sources : sequence of Source

    Yields
    ------
    str
        Lines of text.
    """
    yield "Clone these repositories into FOLDER, or put the files there under the same paths."
    for repository in dict.fromkeys(source.repository for source in sources):
        yield f"\n{repository.address}  licence: {repository.licence}"
        for source in sources:
            if source.repository == repository:
                yield f"  {source.name} ({source.split})"
                yield from (f"    FOLDER/{repository.folder}/{file}" for file in source.files)


def missing_files(sources: Sequence[Source], folder: Path) -> list[InputError]:
    """Give an error for each file that is not in the folder, saying where it comes from.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path

    Returns
    -------
    list of InputError
    """
    return [
        InputError(
            f"this file of the crowd {source.name} is missing",
            f"put {file} of {source.repository.address} there, or leave the crowd out with --crowd",
            file=path,
        )
        for source in sources
        for file, path in zip(source.files, source.paths(folder), strict=True)
        if not path.is_file()
    ]


def read_crowd(source: Source, folder: Path) -> Ratings:
    """Read a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Returns
    -------
    Ratings
        With truth, without a system.

    Raises
    ------
    InputError
        If a file is missing or not as it was published.
    """
    for error in missing_files([source], folder):
        raise error
    return source.reader(source.paths(folder))
