// Tells focusd-windows of the windows of KWin 5 or 6, which loads this if it does not show them over Wayland.
const tell = (member, ...texts) => callDBus(
  "org.focusd.Bridge1.Windows.KWin", "/org/focusd/windows/KWin", "org.focusd.Bridge1.Windows.KWin", member, ...texts);
const isSix = !!workspace.windowList;

function workspaceName(window) {
  if (isSix) return window.desktops.length === 1 ? window.desktops[0].name : "";
  return window.desktop > 0 ? workspace.desktopName(window.desktop) : "";
}

// A program may choose longer ones than a message carries.
const cut = (text) => text.slice(0, 4096);

function describe(window) {
  if (window.deleted) return;
  tell("Window", JSON.stringify({
    id: String(window.internalId), title: cut(window.caption), pid: window.pid, workspace: cut(workspaceName(window)),
    application: cut(String(window.desktopFileName || window.resourceClass || "")), minimized: window.minimized,
    close: window.closeable, minimize: window.minimizable, fullscreen: window.fullScreenable,
    kind: window.desktopWindow ? "backdrop" : window.skipTaskbar && window.skipSwitcher ? "panel" : "",
  }));
}

// A program that counts in its title keeps nobody busy.
const renamed = new Set();
const timer = new QTimer();
timer.singleShot = true;
timer.interval = 25;
timer.timeout.connect(() => {
  renamed.forEach(describe);
  renamed.clear();
});
function describeLater(window) {
  renamed.add(window);
  if (!timer.active) timer.start();
}

function follow(window) {
  // A menu or a tooltip of a Wayland program.
  if (window.popupWindow) return;
  const changes = [
    "desktopChanged", "desktopsChanged", "desktopFileNameChanged", "windowClassChanged", "minimizedChanged",
    "skipTaskbarChanged", "skipSwitcherChanged",
  ];
  window.captionChanged.connect(() => describeLater(window));
  for (const change of changes) if (window[change]) window[change].connect(() => describe(window));
  describe(window);
}

// KWin 5 has no desktops to listen to.
const desktops = new Set();
function followDesktops() {
  for (const desktop of workspace.desktops) {
    if (desktops.has(desktop.id)) continue;
    desktops.add(desktop.id);
    desktop.nameChanged.connect(() => workspace.windowList().filter((each) => !each.popupWindow).forEach(describe));
  }
}

const inFront = (window) => tell("Front", window ? String(window.internalId) : "");

tell("Begin");
(isSix ? workspace.windowList() : workspace.clientList()).forEach(follow);
inFront(isSix ? workspace.activeWindow : workspace.activeClient);
tell("Ready");
if (isSix) {
  followDesktops();
  workspace.desktopsChanged.connect(followDesktops);
}
(isSix ? workspace.windowAdded : workspace.clientAdded).connect(follow);
(isSix ? workspace.windowRemoved : workspace.clientRemoved).connect((window) => {
  renamed.delete(window);
  tell("Gone", String(window.internalId));
});
(isSix ? workspace.windowActivated : workspace.clientActivated).connect(inFront);
