/* SPDX-License-Identifier: BSD-3-Clause */
/* libsweetspot for C++11 and newer, in this header alone: link with -lsweetspot.
 *
 *     sweetspot::region here("sweep");  // until the end of the block, exceptions included
 *
 *     sweetspot::profile profile;
 *     auto settings = profile.lookup("fw", {{"n", 4096}});
 *     long long block = settings.integer("block", 64);
 *
 * Without a profile, or if nothing fits, the defaults are returned. See libsweetspot(3). */
#ifndef SWEETSPOT_HPP
#define SWEETSPOT_HPP
#include <sweetspot.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace sweetspot {

/* A region from here to the end of the block, in one thread. The name must outlive it. */
class region {
  public:
	explicit region(const char *name) noexcept : name_(name) {
		sweetspot_begin(name_);
	}
	~region() {
		sweetspot_end(name_);
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;

  private:
	const char *name_;
};

/* A member of a problem: a number or a word. */
struct member {
	std::string name;
	double number;
	std::string word;
	member(std::string given, double value) : name(std::move(given)), number(value) {
	}
	member(std::string given, const char *value) : name(std::move(given)), number(0), word(value) {
	}
};

/* The settings for a problem, which live as long as their profile. False if nothing fitted. */
class settings {
  public:
	settings() noexcept = default;
	settings(const sweetspot_config *config, const sweetspot_match &match) noexcept : config_(config), match_(match) {
	}
	explicit operator bool() const noexcept {
		return config_ != nullptr;
	}
	long long integer(const char *name, long long otherwise) const noexcept {
		return sweetspot_int(config_, name, otherwise);
	}
	double real(const char *name, double otherwise) const noexcept {
		return sweetspot_real(config_, name, otherwise);
	}
	std::string word(const char *name, const char *otherwise) const {
		return sweetspot_word(config_, name, otherwise);
	}
	const sweetspot_match &match() const noexcept {
		return match_;
	}
	/* Applies what OpenMP accepts within a program; see sweetspot_apply. */
	int apply(unsigned flags = 0) const noexcept {
		return sweetspot_apply(config_, flags, nullptr, 0);
	}

  private:
	const sweetspot_config *config_ = nullptr;
	sweetspot_match match_ = {};
};

/* An open profile; false if there is none, and then message() tells why. */
class profile {
  public:
	explicit profile(const char *path = nullptr) noexcept : profile_(sweetspot_open(path, message_, sizeof message_)) {
	}
	~profile() {
		sweetspot_close(profile_);
	}
	profile(profile &&other) noexcept : profile_(other.profile_) {
		other.profile_ = nullptr;
	}
	profile(const profile &) = delete;
	profile &operator=(const profile &) = delete;
	profile &operator=(profile &&) = delete;
	explicit operator bool() const noexcept {
		return profile_ != nullptr;
	}
	const char *message() const noexcept {
		return message_;
	}
	settings lookup(const char *kernel, std::initializer_list<member> problem, const char *objective = nullptr) const {
		std::vector<sweetspot_value> values;
		for (const member &each : problem)
			values.push_back({each.name.c_str(), each.number, each.word.empty() ? nullptr : each.word.c_str()});
		sweetspot_match match = {};
		const sweetspot_config *config =
			sweetspot_lookup(profile_, kernel, objective, values.data(), values.size(), &match);
		return {config, match};
	}

  private:
	char message_[SWEETSPOT_MESSAGE] = "";
	sweetspot_profile *profile_;
};

} // namespace sweetspot
#endif
