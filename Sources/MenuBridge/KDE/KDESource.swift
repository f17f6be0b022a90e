internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// The actions of a main window of KDE's, by their names; only those that have a standard command's.
final class KDESource: MenuSource {
  static let windowInterface = InterfaceName(known: "org.kde.KMainWindow")
  private static let actionInterface = InterfaceName(known: "org.qtproject.Qt.QAction")

  private let bus: ProgramBus
  private let program: BusName
  private let window: ObjectPath
  /// The standard actions that it had when it was read.
  private var names: [String] = []

  init(_ bus: ProgramBus, _ program: BusName, window: ObjectPath) {
    (self.bus, self.program, self.window) = (bus, program, window)
  }

  /// The action's object; nil for names that cannot be part of a path, such as Konsole's `new-tab`: only the window runs these.
  private func path(of name: String) -> ObjectPath? { try? ObjectPath("\(window)/actions/\(name)") }

  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    bus.call(program, window, Self.windowInterface, "actions", timeout: timeout) { [weak self] answer in
      guard let self else { return }
      if case .failure(let error) = answer, error.isLate { return done(.failure(error)) }
      guard case .success(let values) = answer, case .array(let all)? = values.first else { return done(.success([])) }
      names = Set(all.compactMap(\.basicText)).intersection(Recognition.standardActions).sorted()
      var items: [String: MenuItem] = [:]
      var late: DBusError?
      let answers = Answers { [names] in done(late.map { .failure($0) } ?? .success(names.compactMap { items[$0] })) }
      for name in names {
        look(
          at: name, timeout: timeout,
          answers.expect { (result: Result<MenuItem, DBusError>) in
            switch result {
            case .success(let item): items[name] = item
            case .failure(let error): if error.isLate { late = error }
            }
          })
      }
      answers.finish()
    }
  }

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    look(at: id, timeout: ProgramBus.changeTimeout, done)
  }

  private func look(at id: String, timeout: Duration, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    guard Recognition.standardActions.contains(id) else { return done(.failure(.itemGone(id))) }
    guard let path = path(of: id) else {
      // Of an action that it does not have, it tells that it is disabled.
      return names.contains(id) ? askWindow(of: id, timeout: timeout, done) : done(.failure(.itemGone(id)))
    }
    let question: [DBusValue] = [.string(Self.actionInterface.text)]
    bus.call(program, path, .properties, "GetAll", question, timeout: timeout) { answer in
      if case .failure(let error) = answer, error.isLate { return done(.failure(error)) }
      guard case .success(let values) = answer, case .dictionary(let properties)? = values.first,
        case .string(let text)? = properties[.string("text")]?.variantContent
      else { return done(.failure(.itemGone(id))) }
      func isOn(_ name: String) -> Bool { properties[.string(name)]?.variantContent == .boolean(true) }
      var accelerator = ""
      if case .string(let shortcut)? = properties[.string("shortcut")]?.variantContent {
        accelerator = Accelerator.shown(qt: MenuText.label(shortcut))
      }
      done(
        .success(
          MenuItem(
            id: id, label: MenuText.label(text, mnemonic: "&"), accelerator: accelerator, isEnabled: isOn("enabled"),
            isChecked: isOn("checkable") ? isOn("checked") : nil, action: id)))
    }
  }

  /// Asks the window for what it tells of an action without an object: its tooltip, which is its text if it has no other.
  private func askWindow(
    of id: String, timeout: Duration, _ done: @escaping (Result<MenuItem, DBusError>) -> Void
  ) {
    var item = MenuItem(id: id, label: "", action: id)
    var failure: DBusError?
    let answers = Answers { done(failure.map { .failure($0) } ?? .success(item)) }
    for member in ["actionToolTip", "actionIsEnabled"] {
      bus.call(
        program, window, Self.windowInterface, member, [.string(id)], timeout: timeout,
        answers.expect { (answer: ProgramBus.Answer) in
          switch answer.map(\.first) {
          case .success(.string(let text)): item.label = MenuText.label(text)
          case .success(.boolean(let isEnabled)): item.isEnabled = isEnabled
          case .success: failure = failure ?? .wrongAnswer
          case .failure(let error): failure = error
          }
        })
    }
    answers.finish()
  }

  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    guard let path = path(of: id) else {
      return bus.call(
        program, window, Self.windowInterface, "activateAction", [.string(id)], timeout: Self.patience, isOptional: true
      ) { done($0.unlessRefused(id)) }
    }
    bus.call(program, path, Self.actionInterface, "trigger", timeout: Self.patience, isOptional: true) {
      done($0.map { _ in })
    }
  }
}
