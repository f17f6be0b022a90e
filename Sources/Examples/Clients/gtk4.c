/* A text entry of GTK 4 as a field of focusd: cc gtk4.c -o gtk4 $(pkg-config --cflags --libs gtk4)
 *
 * While it has focus, `focusctl get Text.Content` and `focusctl set Text.SelectedText hello` read and change its text. */
#include <gtk/gtk.h>
#include <string.h>
#include <unistd.h>

#define DAEMON "org.focusd.Focus1"
#define TEXT "org.focusd.Text"
#define ELEMENT "org.focusd.Element"

static const char description[] =
    "<node>"
    "<interface name='" TEXT "'>"
    "<property name='Content' type='s' access='readwrite'/>"
    "<property name='SelectedText' type='s' access='readwrite'/>"
    "</interface>"
    "<interface name='" ELEMENT "'>"
    "<property name='Role' type='s' access='read'/>"
    "<property name='Name' type='s' access='read'/>"
    "</interface>"
    "<interface name='" DAEMON ".Responder'>"
    "<method name='RequestFocus'><arg name='field' type='o' direction='in'/></method>"
    "</interface>"
    "</node>";

/* One for each field of a program with several. */
typedef struct {
  GDBusConnection *bus;
  GtkWindow *window;
  GtkWidget *entry;
  /* The process makes the id unique: FieldExists then means that this field is still registered. */
  char *id, *path;
  gboolean is_registered, has_focus;
  /* The timer of the next try, or 0. */
  guint next_try;
} Field;

static GVariant *value_of(Field *field, const char *name) {
  GtkEditable *text = GTK_EDITABLE(field->entry);
  int start, end;
  if (strcmp(name, "Content") == 0) return g_variant_new_string(gtk_editable_get_text(text));
  if (!gtk_editable_get_selection_bounds(text, &start, &end)) return g_variant_new_string("");
  return g_variant_new_take_string(gtk_editable_get_chars(text, start, end));
}

static GVariant *get(
    GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *name,
    GError **error, gpointer field) {
  if (strcmp(interface, TEXT) == 0) return value_of(field, name);
  return g_variant_new_string(strcmp(name, "Role") == 0 ? "textbox" : "Note");
}

static gboolean set(
    GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *name,
    GVariant *value, GError **error, gpointer data) {
  Field *field = data;
  GtkEditable *editable = GTK_EDITABLE(field->entry);
  const char *text = g_variant_get_string(value, NULL);
  if (strcmp(name, "Content") == 0) {
    gtk_editable_set_text(editable, text);
  } else {
    gtk_editable_delete_selection(editable);
    int position = gtk_editable_get_position(editable);
    gtk_editable_insert_text(editable, text, -1, &position);
    gtk_editable_set_position(editable, position);
  }
  return TRUE;
}

/* Another program asks for focus, such as `focusctl focus ID`. */
static void called(
    GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *method,
    GVariant *arguments, GDBusMethodInvocation *invocation, gpointer data) {
  Field *field = data;
  gtk_window_present(field->window);
  gtk_widget_grab_focus(field->entry);
  g_dbus_method_invocation_return_value(invocation, NULL);
}

/* Tells the daemon the values, which drops those that it knows. */
static void changed(GObject *entry, GParamSpec *property, gpointer data) {
  Field *field = data;
  GVariantBuilder values;
  g_variant_builder_init(&values, G_VARIANT_TYPE_VARDICT);
  for (int index = 0; index < 2; index++) {
    const char *name = index == 0 ? "Content" : "SelectedText";
    g_variant_builder_add(&values, "{sv}", name, value_of(field, name));
  }
  g_dbus_connection_emit_signal(
      field->bus, NULL, field->path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
      g_variant_new("(sa{sv}as)", TEXT, &values, NULL), NULL);
}

/* Calls without waiting: the daemon reads the object before it replies to Register. */
static void call(
    Field *field, const char *path, const char *interface, const char *method, GVariant *arguments,
    GAsyncReadyCallback replied) {
  g_dbus_connection_call(
      field->bus, DAEMON, path, interface, method, arguments, NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, replied, field);
}

static void tell_focus(Field *field) {
  g_autofree char *path = g_strconcat("/org/focusd/Focus1/field/", field->id, NULL);
  call(field, path, DAEMON ".Field", field->has_focus ? "Focus" : "Blur", NULL, NULL);
}

static gboolean register_field(gpointer data);

static void registered(GObject *bus, GAsyncResult *result, gpointer data) {
  Field *field = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, &error);
  g_autofree char *name = error ? g_dbus_error_get_remote_error(error) : NULL;
  if (g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_TIMEOUT)) {
    /* This program was held up while the daemon read the object. */
    field->next_try = g_timeout_add_seconds(1, register_field, field);
    return;
  }
  if (error && g_strcmp0(name, DAEMON ".Error.FieldExists") != 0) {
    g_printerr("%s\n", error->message);
    return;
  }
  field->is_registered = TRUE;
  g_print("registered %s\n", field->id);
  /* One that was restored may have had focus, and lost it meanwhile. */
  if (field->has_focus || error) tell_focus(field);
}

static gboolean register_field(gpointer data) {
  Field *field = data;
  field->next_try = 0;
  GVariantBuilder options;
  g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add(&options, "{sv}", "object", g_variant_new_object_path(field->path));
  g_variant_builder_add(&options, "{sv}", "label", g_variant_new_string("Note"));
  call(field, "/org/focusd/Focus1", DAEMON ".Manager", "Register",
       g_variant_new("(sa{sv}a{sv})", field->id, NULL, &options), registered);
  return G_SOURCE_REMOVE;
}

/* The daemon is there, now or again after a restart. */
static void appeared(GDBusConnection *bus, const char *name, const char *owner, gpointer field) {
  register_field(field);
}

static void vanished(GDBusConnection *bus, const char *name, gpointer data) {
  Field *field = data;
  field->is_registered = FALSE;
  g_clear_handle_id(&field->next_try, g_source_remove);
}

/* The focus moved within the window, or the window came to the front or left it. */
static void moved(GObject *window, GParamSpec *property, gpointer data) {
  Field *field = data;
  GtkWidget *widget = gtk_window_is_active(field->window) ? gtk_window_get_focus(field->window) : NULL;
  /* The focus of an entry is in the text within it. */
  gboolean now = widget && (widget == field->entry || gtk_widget_is_ancestor(widget, field->entry));
  if (now == field->has_focus) return;
  field->has_focus = now;
  if (field->is_registered) tell_focus(field);
}

static void activate(GtkApplication *application, gpointer data) {
  Field *field = g_new0(Field, 1);
  field->bus = g_application_get_dbus_connection(G_APPLICATION(application));
  field->id = g_strdup_printf("note_%d", (int)getpid());
  field->path = g_strconcat("/", field->id, NULL);
  field->window = GTK_WINDOW(gtk_application_window_new(application));
  field->entry = gtk_entry_new();
  gtk_editable_set_text(GTK_EDITABLE(field->entry), "good morning");
  gtk_window_set_title(field->window, "GTK 4");
  gtk_window_set_child(field->window, field->entry);

  g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(description, NULL);
  static const GDBusInterfaceVTable vtable = {.method_call = called, .get_property = get, .set_property = set};
  for (GDBusInterfaceInfo **interface = node->interfaces; *interface; interface++)
    g_dbus_connection_register_object(field->bus, field->path, *interface, &vtable, field, NULL, NULL);

  g_signal_connect(field->entry, "notify::text", G_CALLBACK(changed), field);
  g_signal_connect(field->entry, "notify::cursor-position", G_CALLBACK(changed), field);
  g_signal_connect(field->entry, "notify::selection-bound", G_CALLBACK(changed), field);
  g_signal_connect(field->window, "notify::focus-widget", G_CALLBACK(moved), field);
  g_signal_connect(field->window, "notify::is-active", G_CALLBACK(moved), field);
  g_bus_watch_name_on_connection(
      field->bus, DAEMON, G_BUS_NAME_WATCHER_FLAGS_AUTO_START, appeared, vanished, field, NULL);
  gtk_window_present(field->window);
}

int main(int argc, char **argv) {
  GtkApplication *application = gtk_application_new("org.example.Note", G_APPLICATION_NON_UNIQUE);
  g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
  int status = g_application_run(G_APPLICATION(application), argc, argv);
  g_object_unref(application);
  return status;
}
