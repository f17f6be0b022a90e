internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// What a program has on the session bus, by the names that GTK and KDE give their objects.
struct ProgramObjects: Equatable {
  /// GTK's windows, in the order of their numbers.
  var windows: [ObjectPath] = []
  /// Those of several windows that have no actions of their own: they may have the application's alone, or be seen by nobody.
  var withoutActions: Set<ObjectPath> = []
  /// Whether their numbers tell which was there first: on Wayland, LibreOffice's are addresses.
  var areOrdered = true
  /// The object with the actions of GTK's application.
  var application: ObjectPath?
  var menubar: ObjectPath?
  /// KDE's main windows, in the order of their numbers.
  var mainWindows: [ObjectPath] = []

  /// Whether the program did not answer something in time: it may have more.
  var isPartial = false

  var isEmpty: Bool { windows.isEmpty && mainWindows.isEmpty }

  /// The window of GTK's whose place is that of the `active` one of so many `frames` that are no dialogs; without accessibility
  /// there are none, and it is the only one.
  func window(ofFrames frames: Int, _ active: Int?) -> ObjectPath? {
    // If there are more windows than frames, those without actions are not shown.
    for windows in [windows, windows.filter { !withoutActions.contains($0) }] {
      if windows.count == 1, frames <= 1 { return windows.first }
      if windows.count == frames, areOrdered { return active.map { windows[$0] } }
    }
    return nil
  }

  /// Takes over what the names of an object's children tell.
  /// - Returns: The children that may tell more, the likeliest first.
  mutating func take(_ children: [String], of path: ObjectPath) -> [ObjectPath] {
    if path.elements.last == "window" {
      let numbers = children.compactMap { UInt64($0) }.sorted()
      guard let last = numbers.last else { return [] }
      windows = numbers.compactMap { try? path.appending(String($0)) }
      areOrdered = last <= UInt32.max
      application = try? ObjectPath("/" + path.elements.dropLast().joined(separator: "/"))
      return []
    }
    if path.elements.last == "menus" {
      if children.contains("menubar") { menubar = try? path.appending("menubar") }
      return []
    }
    let prefix = "MainWindow_"
    let main = children.filter { $0.hasPrefix(prefix) }.compactMap { UInt32($0.dropFirst(prefix.count)) }.sorted()
    mainWindows += main.compactMap { try? path.appending(prefix + String($0)) }
    // What has but a number is one of many alike, such as Konsole's sessions, and would use up the questions.
    let next = children.filter { !$0.hasPrefix(prefix) && !Self.others.contains($0) && UInt64($0) == nil }
    return (next.filter(Self.likely.contains) + next.filter { !Self.likely.contains($0) }).prefix(16).compactMap {
      try? path.appending($0)
    }
  }

  private static let likely: Set = ["window", "menus", "org", "com", "io", "net"]
  /// What toolkits export beside windows.
  private static let others: Set = [
    "a11y", "freedesktop", "gtk", "MenuBar", "StatusNotifierItem", "KBookmarkManager", "KDBusAddons", "KIO", "KWallet",
    "MainApplication", "qtproject", "kdeconnect", "SearchProvider",
  ]
}

/// Finds the objects of a program, whose paths no window tells, with a few questions.
final class ObjectSearch {
  /// The most questions; what takes more is not found.
  private static let limit = 8
  /// The most windows that are asked for their actions.
  static let mostWindows = 16

  private let bus: ProgramBus
  private let program: BusName
  private let timeout: Duration
  private var objects = ProgramObjects()
  private var waiting: [ObjectPath] = [.root]
  private var left = ObjectSearch.limit

  init(_ bus: ProgramBus, _ program: BusName, timeout: Duration) {
    (self.bus, self.program, self.timeout) = (bus, program, timeout)
  }

  func find(_ done: @escaping (ProgramObjects) -> Void) {
    guard left > 0, !waiting.isEmpty else { return findEmptyWindows(done) }
    left -= 1
    let path = waiting.removeFirst()
    bus.call(program, path, .introspectable, "Introspect", timeout: timeout) { [self] answer in
      if case .success(let values) = answer, case .string(let xml)? = values.first,
        let children = try? IntrospectionDocument.children(in: xml)
      {
        if path.elements.count == 2, isMainWindow(xml) {
          takeMainWindows(like: path)
        } else {
          // What is deeper in the likeliest place comes before what is beside it.
          waiting = objects.take(children, of: path) + waiting
        }
      } else if case .failure(let error) = answer, error.isLate {
        objects.isPartial = true
      }
      find(done)
    }
  }

  private func isMainWindow(_ xml: String) -> Bool {
    let interfaces = try? IntrospectionDocument.interfaces(in: xml) { $0 == KDESource.windowInterface }
    return interfaces?.isEmpty == false
  }

  /// Takes a main window of KDE's that has a name of its own, as Dolphin's, and those whose names differ in the number alone.
  private func takeMainWindows(like path: ObjectPath) {
    let name = path.text.prefix { $0 != "_" }
    let isSibling = { (other: ObjectPath) in
      other.text.hasPrefix(name + "_") && UInt32(other.text.dropFirst(name.count + 1)) != nil
    }
    objects.mainWindows += [path] + waiting.filter(isSibling)
    waiting.removeAll(where: isSibling)
  }

  /// Finds those of several windows that have no actions, and leaves them out in LibreOffice: it has one beside those of its
  /// documents.
  private func findEmptyWindows(_ done: @escaping (ProgramObjects) -> Void) {
    guard 2...Self.mostWindows ~= objects.windows.count else { return done(objects) }
    let answers = Answers { [self] in
      if !objects.areOrdered || objects.windows.contains(where: GTKAddresses.isOffice) {
        objects.windows.removeAll(where: objects.withoutActions.contains)
      }
      done(objects)
    }
    for window in objects.windows {
      bus.call(
        program, window, GTKSource.actionsInterface, "List", timeout: timeout,
        answers.expect { [self] (answer: ProgramBus.Answer) in
          if case .success(let values) = answer, values.first == .strings([]) {
            objects.withoutActions.insert(window)
          }
        })
    }
    answers.finish()
  }
}
