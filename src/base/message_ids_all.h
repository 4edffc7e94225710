/* message_ids_all.h: all ids of text/messages.def; made by tools/generate; do not edit. */
#ifndef BASE_MESSAGE_IDS_ALL_H
#define BASE_MESSAGE_IDS_ALL_H

#include "base/message_ids_columns.h"

enum { N_MESSAGES = N_MESSAGES_COLUMNS };

#endif
