/* LocalBinding on sd-bus: a size of three, behind a slider from 0 to 1. */
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

static const char *const names[] = {"small", "medium", "large"};
static const double positions[] = {0.15, 0.5, 0.85};
static int size = 0;

static int resize(sd_bus *bus, int new) {
  if (new == size) return 0;
  size = new;
  puts(names[size]);
  int r = sd_bus_emit_properties_changed(bus, "/size", "demo.Size", "Position", NULL);
  return r < 0 ? r : sd_bus_emit_signal(bus, "/size", "demo.Size", "Resized", "s", names[size]);
}

static int get_position(
    sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *data,
    sd_bus_error *error) {
  return sd_bus_message_append(reply, "d", positions[size]);
}

static int set_position(
    sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *value, void *data,
    sd_bus_error *error) {
  double position;
  int r = sd_bus_message_read(value, "d", &position);
  if (r < 0) return r;
  if (!(position >= 0 && position <= 1))
    return sd_bus_error_setf(error, "org.example.Size.OutOfRange", "%g is not within 0 and 1", position);
  return resize(bus, position < 0.25 ? 0 : position < 0.75 ? 1 : 2);
}

static int get_name(
    sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *data,
    sd_bus_error *error) {
  return sd_bus_message_append(reply, "s", "Size");
}

static int reset(sd_bus_message *call, void *data, sd_bus_error *error) {
  int r = resize(sd_bus_message_get_bus(call), 0);
  return r < 0 ? r : sd_bus_reply_method_return(call, "d", positions[size]);
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_WRITABLE_PROPERTY("Position", "d", get_position, set_position, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_PROPERTY("Name", "s", get_name, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_METHOD_WITH_ARGS("Reset", SD_BUS_NO_ARGS, SD_BUS_RESULT("d", position), reset, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("Resized", SD_BUS_ARGS("s", size), 0),
    SD_BUS_VTABLE_END,
};

static int registered(sd_bus_message *reply, void *data, sd_bus_error *error) {
  const sd_bus_error *refusal = sd_bus_message_get_error(reply);
  if (refusal)
    printf("error %s %s\n", refusal->name, refusal->message);
  else
    puts("ready");
  return 0;
}

static int serve(sd_bus *bus, const char *address) {
  int r = sd_bus_set_address(bus, address);
  if (r >= 0) r = sd_bus_set_bus_client(bus, 1);
  if (r >= 0) r = sd_bus_start(bus);
  if (r >= 0) r = sd_bus_add_object_vtable(bus, NULL, "/size", "demo.Size", vtable, NULL);
  if (r >= 0)
    r = sd_bus_call_method_async(
        bus, NULL, "org.focusd.Focus1", "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register", registered,
        NULL, "sa{sv}a{sv}", "size", 0, 2, "object", "o", "/size", "focus", "b", 1);
  while (r >= 0) {
    r = sd_bus_process(bus, NULL);
    if (r == 0) r = sd_bus_wait(bus, UINT64_MAX);
  }
  return r;
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  sd_bus *bus = NULL;
  int r = sd_bus_new(&bus);
  if (r >= 0 && argc > 1) r = serve(bus, argv[1]);
  sd_bus_unref(bus);
  if (r < 0) fprintf(stderr, "size_sdbus: %s\n", strerror(-r));
  return r < 0;
}
