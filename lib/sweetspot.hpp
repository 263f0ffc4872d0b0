/* SPDX-License-Identifier: BSD-3-Clause */
/* libsweetspot for C++11 and newer, in this header alone: link with -lsweetspot.
 *
 *     sweetspot::region here("sweep");  // until the end of the block, exceptions included
 *
 *     sweetspot::profile profile;
 *     auto settings = profile.lookup("fw", {{"n", 4096}});
 *     long long block = settings.integer("block", 64);
 *
 * Without a profile, or if nothing fits, the defaults are returned.
 *
 *     sweetspot::context spmv("spmv");  // sweetspot_context_open: choices while the program runs
 *     spmv.integer("block", {16, 32, 64}, 32).word("variant", {"row", "warp"}, "row");
 *     {
 *         auto choice = spmv.choose({{"n", n}});  // timed to the end of the block
 *         run(choice.integer("block"), choice.word("variant"));
 *     }
 *
 * See libsweetspot(3). */
#ifndef SWEETSPOT_HPP
#define SWEETSPOT_HPP
#include <sweetspot.h>

#include <cmath>
#include <exception>
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

inline std::vector<sweetspot_value> values_of(std::initializer_list<member> problem) {
	std::vector<sweetspot_value> values;
	for (const member &each : problem)
		values.push_back({each.name.c_str(), each.number, each.word.empty() ? nullptr : each.word.c_str()});
	return values;
}

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
		std::vector<sweetspot_value> values = values_of(problem);
		sweetspot_match match = {};
		const sweetspot_config *config =
			sweetspot_lookup(profile_, kernel, objective, values.data(), values.size(), &match);
		return {config, match};
	}

  private:
	char message_[SWEETSPOT_MESSAGE] = "";
	sweetspot_profile *profile_;
};

/* What was chosen. The end of the block reports its time, unless its cost was told, or an exception ends it. */
class choice {
  public:
	explicit choice(const sweetspot_choice &chosen) noexcept : chosen_(chosen), open_(true) {
	}
	~choice() {
		if (open_ && !unwinds())
			sweetspot_report(&chosen_, NAN);
	}
	choice(choice &&other) noexcept : chosen_(other.chosen_), open_(other.open_) {
		other.open_ = false;
	}
	choice(const choice &) = delete;
	choice &operator=(const choice &) = delete;
	choice &operator=(choice &&) = delete;
	long long integer(const char *name) const noexcept {
		return sweetspot_chosen_int(&chosen_, name);
	}
	double real(const char *name) const noexcept {
		return sweetspot_chosen_real(&chosen_, name);
	}
	const char *word(const char *name) const noexcept {
		return sweetspot_chosen_word(&chosen_, name);
	}
	/* Seconds, such as an asynchronous kernel's. */
	void report(double cost) noexcept {
		if (open_)
			sweetspot_report(&chosen_, cost);
		open_ = false;
	}
	/* Nothing is learned from it. */
	void discard() noexcept {
		open_ = false;
	}

  private:
	static bool unwinds() noexcept {
#if __cplusplus >= 201703L
		return std::uncaught_exceptions() > 0;
#else
		return std::uncaught_exception();
#endif
	}
	sweetspot_choice chosen_;
	bool open_;
};

/* Something that the program chooses again and again. Every object of a name is the same context. */
class context {
  public:
	explicit context(const char *name) noexcept : context_(sweetspot_context_open(name)) {
	}
	context &integer(const char *name, std::initializer_list<long long> values, long long otherwise) noexcept {
		sweetspot_context_int(context_, name, values.begin(), values.size(), otherwise);
		return *this;
	}
	context &real(const char *name, std::initializer_list<double> values, double otherwise) noexcept {
		sweetspot_context_real(context_, name, values.begin(), values.size(), otherwise);
		return *this;
	}
	context &word(const char *name, std::initializer_list<const char *> values, const char *otherwise) noexcept {
		sweetspot_context_word(context_, name, values.begin(), values.size(), otherwise);
		return *this;
	}
	context &constraint(const char *expression) noexcept {
		sweetspot_context_constraint(context_, expression);
		return *this;
	}
	choice choose(std::initializer_list<member> problem = {}) const {
		std::vector<sweetspot_value> values = values_of(problem);
		sweetspot_choice chosen;
		sweetspot_choose(context_, values.data(), values.size(), &chosen);
		return choice(chosen);
	}

  private:
	sweetspot_context *context_;
};

/* A GPU kernel that is launched as it was tuned. */
class gpu_kernel {
  public:
	explicit gpu_kernel(const char *path, const char *name = nullptr) noexcept
		: kernel_(sweetspot_kernel_open(path, name)) {
	}
	~gpu_kernel() {
		sweetspot_kernel_close(kernel_);
	}
	gpu_kernel(gpu_kernel &&other) noexcept : kernel_(other.kernel_) {
		other.kernel_ = nullptr;
	}
	gpu_kernel(const gpu_kernel &) = delete;
	gpu_kernel &operator=(const gpu_kernel &) = delete;
	gpu_kernel &operator=(gpu_kernel &&) = delete;
	/* False if it failed, and then message() tells why. arguments: pointers to the values. */
	bool launch(void *stream, std::initializer_list<void *> arguments, std::initializer_list<member> problem = {}) {
		std::vector<sweetspot_value> values = values_of(problem);
		values.push_back({nullptr, 0, nullptr});
		return sweetspot_kernel_launch(kernel_, stream, arguments.begin(), values.data()) == 0;
	}
	const char *message() const noexcept {
		return sweetspot_kernel_message(kernel_);
	}

  private:
	sweetspot_gpu_kernel *kernel_;
};

} // namespace sweetspot
#endif
