import CGTK
import FocusKit

// A text entry and a slider of GTK 4: `GTKControls [NAME]`. While one of them has the focus of the desktop, `focusctl` reads and
// writes it, and `focusctl focus` gives it the focus of the other.

// snippet: main loop
FocusClient.useMainLoop { function, argument in _ = g_idle_add(function, argument) }
// end
gtk_init()
let name = CommandLine.arguments.dropFirst().first ?? "controls"
let loop = g_main_loop_new(nil, 0)
let panel = Panel(name) { g_main_loop_quit(loop) }
// Not a task of the main actor, which would wait for Swift's main queue.
Task.detached { [name, fields = panel.fields] in
  for field in fields { try await field.registered() }
  print("registered as \(name)")
}
g_main_loop_run(loop)
