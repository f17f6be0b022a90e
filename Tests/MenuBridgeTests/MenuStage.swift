import BusSupport
import DBusTypes
import Dispatch
import Foundation
import TestSupport
import Testing

/// A session with the daemon and the bridge, in which the test is the window bridge, and the programs are stubs.
final class MenuStage: Sendable {
  let desktop: TestDesktop
  let bridge: ManagedProcess
  /// The window bridge.
  let windows: Peer
  /// The addresses that it tells, by the field's path.
  private let addresses = Observed<[String: DBusValue]>([:])
  /// How often it was asked for them, as it is for each look at a window.
  let looks = Observed<[String: Int]>([:])

  private init(_ desktop: TestDesktop, _ bridge: ManagedProcess, _ windows: Peer) {
    (self.desktop, self.bridge, self.windows) = (desktop, bridge, windows)
  }

  /// Runs `body` with all of it, the bridge started with `arguments`, after `before`; it must live until the end.
  static func with(
    _ arguments: [String] = [], before: (TestDesktop) async throws -> Void = { _ in },
    _ body: (MenuStage) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      try await before(desktop)
      let windows = try await desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      let bridge = try await desktop.startMenus(arguments)
      let stage = MenuStage(desktop, bridge, windows)
      windows.answersElsewhere()
      windows.answer(at: "/org/focusd/Bridge1/Windows") { [addresses = stage.addresses, looks = stage.looks] call, _ in
        let window = call.arguments.first?.basicText ?? ""
        looks.update { $0[window, default: 0] += 1 }
        return .values([addresses.now[window] ?? .properties([])])
      }
      try await body(stage)
      bridge.terminate()
      guard try await bridge.finish() == .status(0) else { throw BridgeDied(said: bridge.progress.now.errors) }
    }
  }

  /// A program with a window that is in front.
  func program(_ window: String, process: Int32 = getpid()) async throws -> StubMenus {
    let program = StubMenus(try await desktop.peer())
    try await show(window, of: program, process: process)
    return program
  }

  /// Adds a window of a program, and brings it to the front; if `isOfApplication`, one that tells its application, too.
  func show(
    _ window: String, of program: StubMenus, isOfApplication: Bool = false, hasMenubar: Bool = true,
    process: Int32 = getpid()
  ) async throws {
    var parts: Named = [
      ("gtk-unique-bus-name", .string(program.peer.name)),
      ("gtk-window-object-path", .objectPath(ObjectPath(known: StubMenus.window))),
    ]
    if hasMenubar { parts.append(("gtk-menubar-object-path", .objectPath(ObjectPath(known: StubMenus.menubar)))) }
    if isOfApplication {
      parts.append(("gtk-application-object-path", .objectPath(ObjectPath(known: StubMenus.application))))
    }
    try await show(window, parts, process: process)
  }

  /// Adds a window of which the window bridge tells `parts`, and brings it to the front; `process` is nil if the window manager
  /// does not tell it.
  func show(_ window: String, _ parts: Named, title: String = "", process: Int32? = getpid()) async throws {
    tell(window, parts)
    var values: Named = [("org.focusd.Window.Title", .string(title))]
    if let process { values.append(("org.focusd.Window.ProcessId", .uint32(UInt32(process)))) }
    try await windows.register(window, values)
    try await windows.focus(window)
  }

  /// Has the window bridge tell `parts` of a window from now on.
  func tell(_ window: String, _ parts: Named) {
    addresses.update { $0["/org/focusd/Focus1/field/" + window] = .properties(parts) }
  }

  /// Waits until a command is there, and is enabled or not.
  func has(_ command: String, isEnabled: Bool = true) async throws {
    try await eventually("\(command) is \(isEnabled ? "enabled" : "disabled")") {
      try await self.windows.commands()["org.focusd." + command] == isEnabled
    }
  }

  /// What a command answers.
  @discardableResult
  func run(_ command: String, _ arguments: [DBusValue] = []) async throws -> [DBusValue] {
    try await windows.invoke("org.focusd." + command, arguments)
  }

  /// Runs a command until it succeeds: on a slow machine it may take longer than the daemon waits, and is done, too.
  /// - Returns: how often it was run.
  func attempts(_ command: String) async throws -> Int {
    var attempts = 0
    try await eventually("\(command) is run") {
      attempts += 1
      return try await self.refusal(command) == nil
    }
    return attempts
  }

  /// The error that a command ends with, or nil.
  func refusal(_ command: String, _ arguments: [DBusValue] = []) async throws -> String? {
    do {
      try await run(command, arguments)
      return nil
    } catch let error as RemoteError {
      return error.shortName
    }
  }

  /// Checks that `standard` is kept when `command` gets no answer, and can be run as soon as the program answers again.
  ///
  /// Some of what a program does not answer keeps `command` from nothing: then it `maySucceed`.
  func keeps(
    _ standard: String, unanswered command: String, maySucceed: Bool = false, _ silence: (_ isSilent: Bool) -> Void
  ) async throws {
    silence(true)
    let refusal = try await refusal(command)
    #expect(refusal != nil || maySucceed)
    silence(false)
    try #require(try await windows.commands()["org.focusd." + standard] == true)
    // The bridge asks a program nothing for a moment after it did not answer.
    try await eventually("\(standard) is run") { try await self.refusal(standard) == nil }
  }

  /// The items, each as its id, its label and whether it is enabled.
  func items() async throws -> [(id: String, label: String, isEnabled: Bool, checked: Int32)] {
    guard case .array(let items)? = try await run("Menu.Items").first else { return [] }
    return items.compactMap { item in
      guard case .structure(let members) = item, members.count == 6, case .boolean(let isEnabled) = members[4],
        case .int32(let checked) = members[5]
      else { return nil }
      return (members[0].basicText ?? "", members[2].basicText ?? "", isEnabled, checked)
    }
  }
}

extension Peer {
  /// Has no objects but those that the test answers for, as it says when it is asked.
  func answersElsewhere() { answer { call, _ in .error("org.freedesktop.DBus.Error.UnknownObject", call.path) } }

  /// Has `handler` answer whatever is called at `path`, each time as much later as `delay` says when it is called.
  func answer(
    at path: String? = nil, after delay: @autoclosure @escaping @Sendable () -> Duration?,
    _ handler: @escaping PeerThread.Handler
  ) {
    answer(at: path) { [weak self] call, thread in
      guard let delay = delay() else { return handler(call, thread) }
      DispatchQueue.global().asyncAfter(deadline: .now() + delay / .seconds(1)) { [weak self] in
        self?.perform { thread in
          thread.release { $0.serial == call.serial && $0.sender == call.sender ? handler($0, thread) : .hold }
        }
      }
      return .hold
    }
  }
}

extension Observed {
  /// Waits for as many items as are expected to be run, and checks which: one that takes long is said to have begun.
  func ran<Item: Equatable & Sendable>(
    _ items: any KeyPath<State, [Item]> & Sendable, _ expected: [Item],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await wait(for: "\(expected)") { state in
      state[keyPath: items].count >= expected.count ? state[keyPath: items] : nil
    }
    #expect(found == expected, sourceLocation: sourceLocation)
  }

  /// Waits until `item` was run, and checks that no other was, and it no more often than in so many `attempts`.
  func ran<Item: Hashable & Sendable>(
    _ items: any KeyPath<State, [Item]> & Sendable, only item: Item, in attempts: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    _ = try await wait(for: "\(item)") { Set($0[keyPath: items]) == [item] ? true : nil }
    #expect(now[keyPath: items].count <= attempts, sourceLocation: sourceLocation)
  }
}

struct BridgeDied: Error { let said: [String] }

extension TestDesktop {
  /// Starts the bridge, and waits until it serves.
  func startMenus(_ arguments: [String] = []) async throws -> ManagedProcess {
    let bridge = try await start([Products.menus, "--verbose", "--address", bus.address] + arguments)
    try await bridge.says("serving as")
    return bridge
  }
}
