"""The command `lehner datasets`."""


def datasets() -> None:
    """List the data sets that come with lehner, with their sizes and sources.

    Examples
    --------
    lehner datasets
    """
    from lehner import list_datasets, load_dataset

    for dataset in list_datasets():
        ratings = load_dataset(dataset.name)
        print(f"{dataset.name}\n  {dataset.title}\n  {ratings}\n  {dataset.source}")
        if dataset.doi:
            print(f"  https://doi.org/{dataset.doi}")
        if dataset.licence:
            print(f"  licence: {dataset.licence}")
