"""Earth mover's similarity of two weighted sets of tokens: exact on ragged problems, or entropic in batches on a GPU.

C(s, t) = max over f >= 0 of sum_ij f_ij sim(s_i, t_j) with row sums at most the weights of s and column sums at most
those of t, which both add up to 1 (papers/002 §2.3, Eq. 2; Hitchcock 1941). The inequalities let mass stay at home
rather than flow along a negative similarity. So with c_ij = 1 - max(sim_ij, 0) the optimum is 1 minus that of the
balanced problem min sum f c, whose plan says the same once flows along similarities of at most 0 are taken away.
"""

from interlingua.transport.attribution_weights import WEIGHTINGS, weights_of
from interlingua.transport.entropic import entropic
from interlingua.transport.exact import exact, has_network_simplex
from interlingua.transport.flow import Flow, TransportProblem

__all__ = ["WEIGHTINGS", "Flow", "TransportProblem", "entropic", "exact", "has_network_simplex", "weights_of"]
