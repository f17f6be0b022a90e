/* A value and a command of a program without a window, with sd-bus: a session field, which is there whatever has focus.
 * cc lamp.c -o lamp $(pkg-config --cflags --libs libsystemd)
 *
 * While it runs, `focusctl update Brightness +10 --max 100` makes the lamp brighter, and `focusctl run Off` turns it off. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#define DAEMON "org.focusd.Focus1"
#define ROOT "/org/focusd/Focus1"
#define LAMP "com.example.Lamp"
#define OBJECT "/com/example/Lamp"

static int32_t brightness = 20;
/* The process makes the id unique: FieldExists then means that this field is still registered. */
static char id[32];

static int set_brightness(sd_bus *bus, int32_t percent) {
  brightness = percent;
  printf("brightness %d\n", percent);
  fflush(stdout);
  /* sd-bus tells nobody by itself. */
  return sd_bus_emit_properties_changed(bus, OBJECT, LAMP, "Brightness", NULL);
}

static int written(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *value,
                   void *data, sd_bus_error *error) {
  int32_t percent;
  int result = sd_bus_message_read(value, "i", &percent);
  if (result < 0) return result;
  if (percent < 0 || percent > 100)
    return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%d is not between 0 and 100", percent);
  return set_brightness(bus, percent);
}

static int off(sd_bus_message *call, void *data, sd_bus_error *error) {
  int result = set_brightness(sd_bus_message_get_bus(call), 0);
  return result < 0 ? result : sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable description[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_WRITABLE_PROPERTY("Brightness", "i", NULL, written, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_METHOD("Off", "", "", off, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static int add(sd_bus *bus);

static int again(sd_event_source *timer, uint64_t now, void *bus) {
  sd_event_source_unref(timer);
  return add(bus);
}

static int registered(sd_bus_message *reply, void *data, sd_bus_error *error) {
  sd_bus *bus = sd_bus_message_get_bus(reply);
  const sd_bus_error *refusal = sd_bus_message_get_error(reply);
  if (!refusal) return 0;
  /* This program was held up while the daemon read the object. */
  if (sd_bus_error_has_name(refusal, SD_BUS_ERROR_TIMEOUT)) {
    sd_event_source *timer;
    return sd_event_add_time_relative(sd_bus_get_event(bus), &timer, CLOCK_MONOTONIC, 1000000, 0, again, bus);
  }
  if (sd_bus_error_has_name(refusal, DAEMON ".Error.FieldExists")) {
    char path[64];
    snprintf(path, sizeof path, ROOT "/field/%s", id);
    return sd_bus_call_method_async(bus, NULL, DAEMON, path, DAEMON ".Field", "Examine", NULL, NULL, "");
  }
  fprintf(stderr, "%s\n", refusal->message ? refusal->message : refusal->name);
  return 0;
}

static int add(sd_bus *bus) {
  return sd_bus_call_method_async(bus, NULL, DAEMON, ROOT, DAEMON ".Manager", "Register", registered, NULL, "sa{sv}a{sv}",
                                  id, 0, 3, "object", "o", OBJECT, "label", "s", "Lamp", "scope", "s", "session");
}

/* The daemon came, or it went. */
static int changed(sd_bus_message *signal, void *data, sd_bus_error *error) {
  const char *name, *before, *now;
  if (sd_bus_message_read(signal, "sss", &name, &before, &now) >= 0 && *now) add(sd_bus_message_get_bus(signal));
  return 0;
}

int main(void) {
  sd_bus *bus = NULL;
  sd_event *loop = NULL;
  snprintf(id, sizeof id, "lamp_%d", (int)getpid());
  int result = sd_event_default(&loop);
  if (result >= 0) result = sd_bus_open_user(&bus);
  if (result >= 0) result = sd_bus_attach_event(bus, loop, SD_EVENT_PRIORITY_NORMAL);
  if (result >= 0) result = sd_bus_set_exit_on_disconnect(bus, 1);
  if (result >= 0) result = sd_bus_add_object_vtable(bus, NULL, OBJECT, LAMP, description, &brightness);
  if (result >= 0)
    result = sd_bus_add_match_async(bus, NULL,
                                    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" DAEMON "'",
                                    changed, NULL, NULL);
  if (result >= 0) result = add(bus);
  /* The bus calls the program from this loop, as long as there is one. */
  if (result >= 0) result = sd_event_loop(loop);
  if (result < 0) fprintf(stderr, "lamp: %s\n", strerror(-result));
  sd_bus_flush_close_unref(bus);
  sd_event_unref(loop);
  return result != 0;
}
