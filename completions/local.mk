# SPDX-License-Identifier: GPL-3.0-or-later
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
dist_bashcomp_DATA = %D%/bash/sweetspot
dist_zshcomp_DATA = %D%/zsh/_sweetspot
dist_fishcomp_DATA = %D%/fish/sweetspot.fish
