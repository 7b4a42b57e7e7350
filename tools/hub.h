/* SPDX-License-Identifier: Apache-2.0
 *
 * ORG/NAME: a repository in the local hub cache.
 */
#ifndef VRAM_TOOLS_HUB_H
#define VRAM_TOOLS_HUB_H

#include <stddef.h>

/* The folder of a repository in the cache, where huggingface_hub keeps it: $HF_HUB_CACHE, else $HF_HOME/hub, else
 * $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub.  NULL when name is no ORG/NAME, when there
 * is something at that path, or when the cache does not have it.  To be freed. */
char *hub_find(const char *name);
/* Could it be one that was not downloaded?  For the error. */
int hub_is_name(const char *name);

#endif
