// SPDX-License-Identifier: BSD-3-Clause
// What the profile of this machine recommends for a problem. settings KERNEL [NAME=VALUE ...]
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <sweetspot.h>

using profile_pointer = std::unique_ptr<sweetspot_profile, decltype(&sweetspot_close)>;

// Numbers are numbers, all else is a word; the texts stay those of the command line.
static std::vector<sweetspot_value> problem_of(const std::vector<std::string> &names, char **words) {
	std::vector<sweetspot_value> problem;
	for (std::size_t i = 0; i < names.size(); i++) {
		const char *text = words[i] + names[i].size() + (words[i][names[i].size()] == '=');
		char *end;
		double number = std::strtod(text, &end);
		bool whole = *text && !*end;
		problem.push_back({names[i].c_str(), whole ? number : 0, whole ? nullptr : text});
	}
	return problem;
}

static void settings_print(const sweetspot_config *config) {
	sweetspot_value setting;
	for (std::size_t i = 0; sweetspot_setting(config, i, &setting); i++) {
		std::cout << setting.name << '=';
		if (setting.word)
			std::cout << setting.word << '\n';
		else
			std::cout << setting.number << '\n';
	}
}

int main(int argc, char **argv) {
	char why[SWEETSPOT_MESSAGE];
	profile_pointer profile(sweetspot_open(nullptr, why, sizeof why), sweetspot_close);
	if (*why)
		std::cerr << "settings: " << why << '\n';
	for (std::size_t i = 0; argc < 2 && sweetspot_kernel(profile.get(), i); i++)
		std::cout << sweetspot_kernel(profile.get(), i) << '\n';
	if (argc < 2 || !profile)
		return profile ? 0 : 1;
	std::vector<std::string> names;
	for (int i = 2; i < argc; i++)
		names.push_back(std::string(argv[i]).substr(0, std::string(argv[i]).find('=')));
	std::vector<sweetspot_value> problem = problem_of(names, argv + 2);
	sweetspot_match match;
	const sweetspot_config *config =
		sweetspot_lookup(profile.get(), argv[1], nullptr, problem.data(), problem.size(), &match);
	std::cout << "# " << sweetspot_status_word(match.status) << ", " << match.predicted << ' ' << match.unit << '\n';
	settings_print(config);
	return config ? 0 : 1;
}
