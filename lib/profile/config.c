/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "lib/profile/profile_impl.h"

static const struct ssp_setting *setting_of(const struct sweetspot_config *config, const char *name) {
	return config && name ? ssp_setting_find(&config->settings, name) : NULL;
}

long long sweetspot_int(const sweetspot_config *config, const char *name, long long otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && (setting->type == SSP_INTEGER || setting->type == SSP_BOOLEAN) ? setting->integer : otherwise;
}

double sweetspot_real(const sweetspot_config *config, const char *name, double otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && (setting->type == SSP_INTEGER || setting->type == SSP_REAL) ? setting->number : otherwise;
}

const char *sweetspot_word(const sweetspot_config *config, const char *name, const char *otherwise) {
	const struct ssp_setting *setting = setting_of(config, name);
	return setting && setting->word ? setting->word : otherwise;
}

int sweetspot_setting(const sweetspot_config *config, size_t i, struct sweetspot_value *setting) {
	if (!config || !setting || i >= config->settings.count)
		return 0;
	const struct ssp_setting *found = &config->settings.items[i];
	*setting = (struct sweetspot_value){found->name, found->number, found->word};
	return 1;
}
