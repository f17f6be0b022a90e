// libxcb as Swift imports it: unions and iterators stay here.
#pragma once
#include <stdlib.h>
#include <xcb/res.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// The replies are of fixed types that Swift has no names for: `xcb_get_property_reply_t` and others, from `malloc(3)`.
static inline int cxcb_poll(xcb_connection_t *connection, unsigned int request, void **reply) {
  xcb_generic_error_t *error = NULL;
  *reply = NULL;
  int isOver = xcb_poll_for_reply(connection, request, reply, &error);
  free(error);
  return isOver;
}

// Sends a message about `window` to the window manager, which listens at the root window.
static inline void cxcb_tell_manager(
    xcb_connection_t *connection, xcb_window_t root, xcb_window_t window, xcb_atom_t type, const uint32_t values[5]) {
  xcb_client_message_event_t event = {0};
  event.response_type = XCB_CLIENT_MESSAGE;
  event.format = 32;
  event.window = window;
  event.type = type;
  for (int index = 0; index < 5; index++) event.data.data32[index] = values[index];
  xcb_send_event(
      connection, 0, root, XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY,
      (const char *)&event);
}

static inline unsigned int cxcb_ask_process(xcb_connection_t *connection, xcb_window_t window) {
  xcb_res_client_id_spec_t spec = {window, XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};
  return xcb_res_query_client_ids(connection, 1, &spec).sequence;
}

// The process of a reply to `cxcb_ask_process`; 0 if the server does not know it.
static inline uint32_t cxcb_process(const void *reply) {
  xcb_res_client_id_value_iterator_t values = xcb_res_query_client_ids_ids_iterator(reply);
  for (; values.rem > 0; xcb_res_client_id_value_next(&values))
    if ((values.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID) && values.data->length >= 4)
      return *xcb_res_client_id_value_value(values.data);
  return 0;
}
