"""Other packages compute what we compute: those that are installed, and the committed table."""

import pandas as pd
import pytest

from experiments.benchmarks.peers import PEERS, RESULTS

MODULES = {
    "scikit-learn": "sklearn",
    "crowd-kit": "crowdkit",
    "ppi-python": "ppi_py",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_computes_the_same(peer):
    pytest.importorskip(MODULES.get(peer, peer))
    committed = pd.read_csv(RESULTS).set_index("quantity")
    for quantity, _, ours, theirs, tolerance in PEERS[peer]():
        assert ours == pytest.approx(theirs, abs=tolerance), quantity
        assert ours == pytest.approx(committed.lehner[quantity], abs=1e-9), quantity


def test_the_table_has_every_peer_within_its_tolerance():
    table = pd.read_csv(RESULTS)
    assert set(table.peer.str.rsplit(" ", n=1).str[0]) == set(PEERS)
    assert ((table.lehner - table.peers_number).abs() <= table.tolerance).all()
