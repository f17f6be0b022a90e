// Tells focusd-windows(8) which window is in front: only those who ask are told, each by signals of its own.
// Systemd/gnome/build makes this text's two forms, for GNOME Shell 43 and 44 and for 45 and later.
const { Gio, GLib, Meta } = imports.gi;
const Main = imports.ui.main;

const NAME = 'org.focusd.GNOMEShell1';
const PATH = '/org/focusd/GNOMEShell1';
// Of the interface: the bridge asks for exactly this one.
const VERSION = 1;
// A program may set a title of megabytes, and the bridge cuts it anyway.
const LONGEST_TITLE = 4096;
// Programs choose the other texts, too, which have little in common with a title.
const LONGEST_NAME = 255;
const INTERFACE = `<node><interface name="${NAME}">
  <method name="Follow"><arg type="u" direction="out"/><arg type="a(ta{sv})" direction="out"/><arg type="t" direction="out"/></method>
  <method name="Activate"><arg type="t" direction="in"/></method>
  <method name="Perform"><arg type="t" direction="in"/><arg type="s" direction="in"/></method>
  <signal name="Window"><arg type="t"/><arg type="a{sv}"/></signal>
  <signal name="Gone"><arg type="t"/></signal>
  <signal name="Front"><arg type="t"/></signal>
</interface></node>`;

const KINDS = new Map([
    [Meta.WindowType.NORMAL, 'ordinary'], [Meta.WindowType.DIALOG, 'ordinary'],
    [Meta.WindowType.MODAL_DIALOG, 'ordinary'], [Meta.WindowType.UTILITY, 'ordinary'],
    [Meta.WindowType.DOCK, 'panel'], [Meta.WindowType.DESKTOP, 'backdrop'],
]);
const ACTIONS = {
    Close: window => window.delete(global.display.get_current_time_roundtrip()),
    Minimize: window => window.minimize(),
    Fullscreen: window => window.is_fullscreen() ? window.unmake_fullscreen() : window.make_fullscreen(),
};

function facts(window) {
    const workspace = window.is_on_all_workspaces() ? null : window.get_workspace();
    const texts = {
        kind: KINDS.get(window.get_window_type()),
        title: window.get_title(),
        application: window.get_wm_class() || window.get_gtk_application_id() || window.get_sandboxed_app_id(),
        workspace: workspace && Meta.prefs_get_workspace_name(workspace.index()),
        'gtk-application-id': window.get_gtk_application_id(),
        'gtk-unique-bus-name': window.get_gtk_unique_bus_name(),
        'gtk-application-object-path': window.get_gtk_application_object_path(),
        'gtk-window-object-path': window.get_gtk_window_object_path(),
        'gtk-menubar-object-path': window.get_gtk_menubar_object_path(),
        'gtk-app-menu-object-path': window.get_gtk_app_menu_object_path(),
    };
    const result = {};
    if (window.get_pid() > 0)
        result.pid = new GLib.Variant('u', window.get_pid());
    for (const name of Object.keys(texts)) {
        if (texts[name])
            result[name] = new GLib.Variant('s', texts[name].slice(0, name === 'title' ? LONGEST_TITLE : LONGEST_NAME));
    }
    return result;
}

class FocusdExtension {
    enable() {
        this._followers = new Map();
        this._windows = new Map();
        this._timers = new Map();
        this._object = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._object.export(Gio.DBus.session, PATH);
        this._name = Gio.DBus.session.own_name(NAME, Gio.BusNameOwnerFlags.NONE, null, null);
        this._display = [
            global.display.connect('window-created', (_display, window) => this._add(window)),
            global.display.connect('notify::focus-window', () => {
                // One that has the keyboard is told of first.
                if (this._timers.has(global.display.focus_window))
                    this._tellFacts(global.display.focus_window);
                this._tell('Front', '(t)', [this._front()]);
            }),
        ];
        // Workspaces have the names of their places.
        this._workspaces = ['workspace-removed', 'workspaces-reordered'].map(name =>
            global.workspace_manager.connect(name, () => [...this._windows.keys()].forEach(window => this._tellFacts(window))));
        this._preferences = new Gio.Settings({schema_id: 'org.gnome.desktop.wm.preferences'});
        // The shell may take over the names after this is told of them.
        this._names = this._preferences.connect('changed::workspace-names', () =>
            [...this._windows.keys()].forEach(window => this._later(window, () => this._tellFacts(window))));
        for (const actor of global.get_window_actors())
            this._add(actor.meta_window);
    }

    disable() {
        this._display.forEach(id => global.display.disconnect(id));
        this._workspaces.forEach(id => global.workspace_manager.disconnect(id));
        this._preferences.disconnect(this._names);
        this._preferences = null;
        for (const window of [...this._windows.keys()])
            this._remove(window);
        for (const watch of this._followers.values())
            Gio.DBus.session.unwatch_name(watch);
        this._followers.clear();
        Gio.DBus.session.unown_name(this._name);
        this._object.unexport();
        this._object = null;
    }

    _add(window) {
        if (this._windows.has(window) || window.is_override_redirect() || !KINDS.has(window.get_window_type()))
            return;
        const tell = () => this._tellFacts(window);
        const changes = ['notify::wm-class', 'notify::gtk-window-object-path', 'notify::gtk-menubar-object-path',
            'workspace-changed'];
        const ids = changes.map(name => window.connect(name, tell));
        ids.push(window.connect('notify::title', () => this._later(window, tell)));
        ids.push(window.connect('unmanaging', () => this._remove(window)));
        this._windows.set(window, ids);
        // A window of Wayland is there before its program has named it.
        if (window.get_wm_class() || window.get_title())
            tell();
        else
            this._later(window, tell, 100);
    }

    // A program that counts in its title keeps nobody busy.
    _later(window, tell, milliseconds = 25) {
        if (this._timers.has(window))
            return;
        this._timers.set(window, GLib.timeout_add(GLib.PRIORITY_DEFAULT, milliseconds, () => {
            this._timers.delete(window);
            tell();
            return GLib.SOURCE_REMOVE;
        }));
    }

    _tellFacts(window) {
        this._tell('Window', '(ta{sv})', [window.get_id(), facts(window)]);
    }

    _remove(window) {
        this._windows.get(window).forEach(id => window.disconnect(id));
        if (this._timers.has(window))
            GLib.source_remove(this._timers.get(window));
        this._timers.delete(window);
        this._windows.delete(window);
        this._tell('Gone', '(t)', [window.get_id()]);
    }

    _front() {
        const window = global.display.focus_window;
        return this._windows.has(window) ? window.get_id() : 0;
    }

    _tell(signal, type, values) {
        for (const follower of this._followers.keys())
            Gio.DBus.session.emit_signal(follower, PATH, NAME, signal, new GLib.Variant(type, values));
    }

    _find(id) {
        const window = [...this._windows.keys()].find(window => window.get_id() === id);
        if (!window)
            throw new Error('the window was closed');
        return window;
    }

    FollowAsync(_arguments, invocation) {
        const follower = invocation.get_sender();
        if (!this._followers.has(follower)) {
            this._followers.set(follower, Gio.DBus.session.watch_name(follower, Gio.BusNameWatcherFlags.NONE, null, () => {
                Gio.DBus.session.unwatch_name(this._followers.get(follower));
                this._followers.delete(follower);
            }));
        }
        const windows = [...this._windows.keys()].map(window => [window.get_id(), facts(window)]);
        invocation.return_value(new GLib.Variant('(ua(ta{sv})t)', [VERSION, windows, this._front()]));
    }

    Activate(id) {
        const window = this._find(id);
        // A later request counts, not one that still waits for the overview.
        this._wanted = window;
        const activate = () => {
            if (this._wanted !== window)
                return;
            this._wanted = null;
            if (this._windows.has(window))
                Main.activateWindow(window, global.display.get_current_time_roundtrip());
        };
        if (!Main.overview.visible)
            return activate();
        // When it has ended, the overview gives the keyboard to a window of its own choice.
        const hidden = Main.overview.connect('hidden', () => {
            Main.overview.disconnect(hidden);
            GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
                activate();
                return GLib.SOURCE_REMOVE;
            });
        });
        Main.overview.hide();
    }

    Perform(id, action) {
        const perform = ACTIONS[action];
        if (!perform)
            throw new Error('GNOME cannot do that');
        perform(this._find(id));
    }
}
