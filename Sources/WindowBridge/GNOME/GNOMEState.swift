package import DBusTypes

/// The windows of GNOME Shell, from what its extension tells.
package struct GNOMEState {
  package static let busName = BusName(known: "org.focusd.GNOMEShell1")
  static let path = ObjectPath(known: "/org/focusd/GNOMEShell1")
  static let interface = InterfaceName(known: busName.text)
  /// The version of the extension's interface that is understood.
  private static let version: UInt32 = 1
  /// The most windows that are followed.
  private static let mostWindows = 1024

  /// The extension is not of this version.
  package struct Mismatch: Error, CustomStringConvertible {
    package var description: String {
      "GNOME's extension is not the one that belongs to this version of focusd-windows: install both from the same "
        + "release, and log in again"
    }
  }

  package private(set) var desktop = Desktop()
  /// The window that was said to be in front last, also if it is not known.
  private var front: WindowID?
  /// The process of the shell; 0 if it is not known.
  ///
  /// Mutter tells it for the windows of programs that the shell has connected itself, such as GNOME's Files.
  private let shell: UInt32
  /// The processes of these programs, by their names on the bus.
  private var processes: [BusName: UInt32] = [:]

  package init(shell: UInt32 = 0) { self.shell = shell }

  /// The programs with windows of which the process is not known.
  var unknownPrograms: Set<BusName> {
    Set(desktop.windows.values.compactMap { $0.process == nil ? program(of: $0) : nil })
  }

  private func isProgram(_ process: UInt32) -> Bool { process > 1 && process != shell }

  /// The name on the bus of a window's program: dialogs have none of their own, but GNOME's programs have that of the application.
  private func program(of window: Window) -> BusName? {
    (window.menus[.gtkBusName] ?? window.application).flatMap { try? BusName($0) }
  }

  /// Takes over what the bus tells of a program.
  mutating func know(_ process: UInt32, of program: BusName) {
    // Programs that have ended are no longer needed.
    let programs = Set(desktop.windows.values.compactMap(self.program))
    processes = processes.filter { programs.contains($0.key) }
    guard isProgram(process) else { return }
    processes[program] = process
    for (id, window) in desktop.windows where window.process == nil && self.program(of: window) == program {
      desktop.windows[id]?.process = process
    }
  }

  /// Takes over the answer to `Follow`: the version, all windows, and the one in front.
  /// - Throws: `Mismatch`.
  package mutating func followed(_ values: [DBusValue]) throws(Mismatch) {
    guard values.count == 3, values[0] == .uint32(Self.version), case .array(let windows) = values[1],
      case .uint64(let number) = values[2]
    else { throw Mismatch() }
    for window in windows {
      guard case .structure(let parts) = window else { throw Mismatch() }
      set(parts)
    }
    bringToFront(number)
  }

  /// Takes over a signal; what is not of the interface counts for nothing.
  package mutating func signal(_ name: String, _ values: [DBusValue]) {
    guard case .uint64(let number)? = values.first else { return }
    switch name {
    case "Window":
      set(values)
      bringToFront(front?.number ?? 0)
    case "Gone":
      desktop.windows[WindowID(number)] = nil
      bringToFront(front?.number ?? 0)
    case "Front": bringToFront(number)
    default: break
    }
  }

  private mutating func bringToFront(_ number: UInt64) {
    front = number == 0 ? nil : WindowID(number)
    desktop.front = front.flatMap { desktop.windows[$0] == nil ? nil : $0 }
  }

  private mutating func set(_ values: [DBusValue]) {
    guard values.count == 2, case .uint64(let number) = values[0], number != 0, case .dictionary(let facts) = values[1],
      facts.keyType == .string, facts.valueType == .variant
    else { return }
    let id = WindowID(number)
    guard desktop.windows[id] != nil || desktop.windows.count < Self.mostWindows else { return }
    var window = Window(actions: [.close, .fullscreen, .minimize])
    for entry in facts.entries {
      guard case .string(let name) = entry.key, case .variant(let value) = entry.value else { continue }
      switch (name, value) {
      case ("title", .string(let text)): window.title = WindowText.cut(text, limit: WindowText.titleLength)
      case ("application", .string(let text)): window.application = WindowText.name(text)
      case ("workspace", .string(let text)): window.workspace = WindowText.name(text)
      case ("pid", .uint32(let process)): window.process = isProgram(process) ? process : nil
      case ("kind", .string("panel")): window.kind = .panel
      case ("kind", .string("backdrop")): window.kind = .backdrop
      case (_, .string(let text)):
        if let part = MenuAddresses.Part(rawValue: name) { window.menus[part] = text }
      default: break
      }
    }
    if window.process == nil { window.process = program(of: window).flatMap { processes[$0] } }
    desktop.windows[id] = window
  }
}
