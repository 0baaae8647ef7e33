"""Checkers of chapter 6, f-DP, a module a section."""
from provable_privacy.check.f_dp.accounting import *  # noqa: F403
from provable_privacy.check.f_dp.gaussian_dp import *  # noqa: F403
from provable_privacy.check.f_dp.learning import *  # noqa: F403
from provable_privacy.check.f_dp.products import *  # noqa: F403
from provable_privacy.check.f_dp.trade_offs import *  # noqa: F403
