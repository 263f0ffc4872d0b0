// SPDX-License-Identifier: GPL-3.0-or-later
// What a reader looks for comes first: how to do it. What happened and why it is built so comes last.
var Scorer = {
	score: ([page, , , , score]) => {
		if (page === "NEWS") return score / 100;
		if (/^doc\/(adr|lab)\//.test(page) || page === "genindex") return score / 10;
		if (/^reference\//.test(page) || /^[A-Z]/.test(page)) return score / 2;
		return score;
	},
	objNameMatch: 11,
	objPartialMatch: 6,
	objPrio: { 0: 15, 1: 5, 2: -5 },
	objPrioDefault: 0,
	title: 15,
	partialTitle: 7,
	term: 5,
	partialTerm: 2,
};
