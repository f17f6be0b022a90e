internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// The programs on the accessibility bus, found by process; whether there are any is the session's affair, not the bridge's.
final class AccessiblePrograms {
  private static let widest = 64

  private let status: AccessibilityStatus
  var bus: ProgramBus? { status.bus }
  private var processes: [BusName: UInt32] = [:]

  init(_ connection: Connection, on loop: EventLoop) {
    status = AccessibilityStatus(connection, on: loop, enables: false)
    status.onBus = { [weak self] _ in self?.processes = [:] }
  }

  func begin() { status.begin() }

  /// Another connection offers accessibility.
  func ownerChanged() { status.ownerChanged() }

  func end() { status.close() }

  /// Finds the windows of a program's processes, nil if they are not told in time, and the index of the active one, or of the only
  /// one; nil if none or several are active.
  func windows(
    of wanted: Set<UInt32>, timeout: Duration, _ done: @escaping ([ElementReference]?, _ active: Int?) -> Void
  ) {
    guard let bus else { return done(status.isBeginning ? nil : [], nil) }
    bus.children(of: .registry, atMost: 1024, timeout: timeout) { [weak self] answer in
      guard let self, case .success(let roots) = answer else { return done(answer.isLate ? nil : [], nil) }
      find(roots, of: wanted, on: bus, timeout, done)
    }
  }

  private func find(
    _ roots: [ElementReference], of wanted: Set<UInt32>, on bus: ProgramBus, _ timeout: Duration,
    _ done: @escaping ([ElementReference]?, Int?) -> Void
  ) {
    let names = Set(roots.map(\.application))
    processes = processes.filter { names.contains($0.key) }
    var windows: [ElementReference] = []
    var isLate = false
    let asked = Answers { [self] in
      guard !isLate else { return done(nil, nil) }
      findActive(windows, timeout: timeout) { done(windows, $0 ?? (windows.count == 1 ? 0 : nil)) }
    }
    let known = Answers { [self] in
      for root in roots where wanted.contains(processes[root.application] ?? 0) {
        bus.children(
          of: root, atMost: Self.widest, timeout: timeout,
          asked.expect { answer in
            isLate = isLate || answer.isLate
            // Those of another connection are another program's, which may be one that is never looked into.
            windows += ((try? answer.get()) ?? []).filter { $0.application == root.application }
          })
      }
      asked.finish()
    }
    for root in roots where processes[root.application] == nil {
      bus.connection.askProcess(
        of: root.application, timeout: ProgramBus.changeTimeout,
        known.expect { [self] (result: Result<UInt32, DBusError>) in
          processes[root.application] = (try? result.get()) ?? 0
        })
    }
    known.finish()
  }

  /// Finds which of `windows` is active now; nil if none or several are.
  func findActive(_ windows: [ElementReference], timeout: Duration, _ done: @escaping (Int?) -> Void) {
    guard let bus else { return done(nil) }
    var active: [Int] = []
    let answers = Answers { done(active.count == 1 ? active.first : nil) }
    for (index, window) in windows.enumerated() {
      bus.states(
        of: window, timeout: timeout,
        answers.expect { answer in
          if case .success(let states) = answer, states.contains(.active) { active.append(index) }
        })
    }
    answers.finish()
  }

  /// Finds which of `windows` is shown with a title; nil if it may be none or several of them.
  func find(
    _ title: String, among windows: [ElementReference], timeout: Duration, _ done: @escaping (Int?) -> Void
  ) {
    guard let bus, !title.isEmpty else { return done(nil) }
    var titles: [(key: Int, told: String, shown: String)] = []
    let answers = Answers {
      let found = ShownTitle.fitting(titles)
      done(found.count == 1 ? found.first : nil)
    }
    for (index, window) in windows.enumerated() {
      bus.get(
        window, AccessibilityNames.accessible, "Name", timeout: timeout,
        answers.expect { (answer: Result<DBusValue?, DBusError>) in
          if case .success(.string(let told)?) = answer { titles.append((key: index, told: told, shown: title)) }
        })
    }
    answers.finish()
  }

  /// Whether a window is a dialog, by its role; nil if that is not told.
  func isDialog(_ window: ElementReference, timeout: Duration, _ done: @escaping (Bool?) -> Void) {
    guard let bus else { return done(nil) }
    bus.role(of: window, timeout: timeout) { answer in done((try? answer.get()).map { MenuRole($0) == .dialog }) }
  }
}
