"""Other packages compute what we compute: those that are installed, and the committed table."""

import pandas as pd
import pytest

from experiments.benchmarks.peers import PEERS, RESULTS, compare

MODULES = {
    "scikit-learn": "sklearn",
    "crowd-kit": "crowdkit",
    "ppi-python": "ppi_py",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_computes_the_same(peer):
    pytest.importorskip(MODULES.get(peer, peer))
    check(compare(peer))


def check(found):
    committed = pd.read_csv(RESULTS)
    for row in found.itertuples():
        assert row.lehner == pytest.approx(row.peers_number, abs=row.tolerance), row.quantity
        (same,) = committed[
            (committed.quantity == row.quantity)
            & (committed.data == row.data)
            & (committed.peer.str.rsplit(" ", n=1).str[0] == row.peer.rsplit(" ", 1)[0])
        ].lehner
        assert row.lehner == pytest.approx(same, abs=1e-9), row.quantity


def test_the_table_has_every_peer_within_its_tolerance():
    table = pd.read_csv(RESULTS)
    assert set(table.peer.str.rsplit(" ", n=1).str[0]) > set(PEERS)
    assert ((table.lehner - table.peers_number).abs() <= table.tolerance).all()
