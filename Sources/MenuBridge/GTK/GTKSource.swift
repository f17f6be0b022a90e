internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Where a program of GTK's has what it offers for one window.
struct GTKAddresses: Equatable {
  /// The connection of the program.
  let program: BusName
  /// The objects with actions, by what the names of these begin with.
  var actions: [String: ObjectPath] = [:]
  var menubar: ObjectPath?

  /// Whether it is LibreOffice.
  var isOffice: Bool { actions.values.contains(where: Self.isOffice) }

  static func isOffice(_ path: ObjectPath) -> Bool { path.elements.dropFirst().first == "libreoffice" }
}

/// The actions and the menu bar of a program that has them on the session bus, as GTK and LibreOffice do.
final class GTKSource: MenuSource {
  static let actionsInterface = InterfaceName(known: "org.gtk.Actions")
  private static let menusInterface = InterfaceName(known: "org.gtk.Menus")
  /// How often a menu bar is asked for what is in its menus: at first, and when all of it is wanted.
  private static let steps = (first: 5, whole: 16)

  /// The actions of each object that has answered, as they are now.
  private final class Reading { var actions: [String: [String: GTKAction]] = [:] }

  private let bus: ProgramBus
  private let addresses: GTKAddresses
  /// What was read last, by id.
  private var items: [String: GTKItem] = [:]
  /// What opens the menus, those whose items are forgotten included.
  private var openers: Set<String> = []
  private var last = Reading()
  /// Those that are under way.
  private var readings: [Reading] = []
  private var rules: [MatchRule] = []
  private(set) var isPartial = false
  /// Whether its menus have had items whose actions are told nowhere: those of a group of the program's own.
  private(set) var isLacking = false
  var onEnabled: ((_ id: String, _ isEnabled: Bool) -> Void)?
  var onMore: (() -> Void)?

  /// An action may be another's of the next list of documents.
  var checksItems: Bool { false }

  /// Nil for an item whose menu must be opened to know.
  func isEnabled(_ id: String) -> Bool? { items[id].flatMap { $0.openers.isEmpty ? $0.item.isEnabled : nil } }
  var hasMenubar: Bool { addresses.menubar != nil }

  init(_ bus: ProgramBus, _ addresses: GTKAddresses) {
    (self.bus, self.addresses) = (bus, addresses)
    rules = addresses.actions.values.sorted().map { path in
      MatchRule(
        sender: addresses.program, path: path, interface: Self.actionsInterface, member: MemberName(known: "Changed"))
    }
    for rule in rules { bus.connection.changeMatch(.add, rule) }
  }

  func end() {
    for rule in rules { bus.connection.changeMatch(.remove, rule) }
    rules = []
  }

  // MARK: Reading

  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    let reading = Reading()
    readings.append(reading)
    var menus = GTKMenus()
    var refusal: DBusError?
    isPartial = false
    let answers = Answers { [weak self] in
      guard let self else { return }
      readings.removeAll { $0 === reading }
      // The menus are there, though not read; at first sight, the actions alone are better than nothing.
      if let error = menus.excess, isWhole || !items.isEmpty { return done(.failure(error)) }
      // With the actions of one object alone, those of the other would be told as disabled.
      if let refusal, reading.actions.isEmpty || refusal.isLate { return done(.failure(refusal)) }
      let all = menus.items(reading.actions)
      let found = all.filter { addresses.actions[$0.group] != nil }
      if found.count < all.count { isLacking = true }
      last = reading
      items = Dictionary(found.map { ($0.item.id, $0) }) { first, _ in first }
      openers.formUnion(found.flatMap(\.openers))
      done(.success(found.map(\.item)))
    }
    if isWhole, addresses.isOffice { refresh(openers.sorted()) }
    for (group, path) in addresses.actions {
      let answered = answers.expect { (answer: ProgramBus.Answer) in
        switch answer {
        case .success(let values): reading.actions[group] = GTKAction.all(in: values.first)
        case .failure(let error): if refusal?.isLate != true { refusal = error }
        }
      }
      ask(path, Self.actionsInterface, "DescribeAll", [], timeout: timeout, answered)
    }
    if let menubar = addresses.menubar {
      let ended = answers.expect { (all: GTKMenus) in menus = all }
      walk(menubar, GTKMenus(), steps: isWhole ? Self.steps.whole : Self.steps.first, timeout: timeout, ended)
    }
    answers.finish()
  }

  /// Asks for the groups of menus that are not known, until there are none or it has asked often enough.
  private func walk(
    _ menubar: ObjectPath, _ known: GTKMenus, steps: Int, timeout: Duration, _ done: @escaping (GTKMenus) -> Void
  ) {
    var menus = known
    let next = steps > 0 ? menus.next() : []
    guard !next.isEmpty else { return end(menubar, menus, done) }
    ask(menubar, Self.menusInterface, "Start", [Self.numbers(next)], timeout: timeout) { [self] answer in
      if case .failure(let error) = answer {
        if error.isLate { isPartial = true }
        if error.name == .limitsExceeded { menus.excess = error }
      }
      guard case .success(let values) = answer, menus.add(values.first) else { return end(menubar, menus, done) }
      walk(menubar, menus, steps: steps - 1, timeout: timeout, done)
    }
  }

  /// Ends what was started, which tells of its changes until then; also what was not answered, or not as it should be.
  private func end(_ menubar: ObjectPath, _ menus: GTKMenus, _ done: (GTKMenus) -> Void) {
    bus.tell(addresses.program, menubar, Self.menusInterface, "End", [Self.numbers(menus.started)])
    done(menus)
  }

  private static func numbers(_ groups: [UInt32]) -> DBusValue {
    .array(DBusArray(known: .uint32, groups.map { .uint32($0) }))
  }

  func forget(except ids: Set<String>) {
    items = items.filter { ids.contains($0.key) }
    forgetActions()
  }

  /// Drops the actions of the last reading that no item names.
  private func forgetActions() {
    for (group, actions) in last.actions {
      let names = Set(items.values.filter { $0.group == group }.map(\.name))
      last.actions[group] = actions.filter { names.contains($0.key) }
    }
  }

  // MARK: One item

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    guard let item = items[id], let path = addresses.actions[item.group] else { return done(.failure(.itemGone(id))) }
    refresh(item.openers)
    guard addresses.menubar != nil, item.menu != nil, !GTKMenus.isStable(item.name) else {
      return describe(item, at: path) { [self] action in
        if case .success(nil) = action {
          // The menu may still show it, as disabled.
          ifShown(item, done) { done(.success(item.updated(nil))) }
        } else {
          done(action.map(item.updated))
        }
      }
    }
    // An action without a name of its own may be another item's by now.
    ifShown(item, done) { [self] in describe(item, at: path) { done($0.map(item.updated)) } }
  }

  /// Goes on if the menus still show an item; else ends with why not.
  private func ifShown(
    _ item: GTKItem, _ done: @escaping (Result<MenuItem, DBusError>) -> Void, _ next: @escaping () -> Void
  ) {
    let gone = DBusError.itemGone(item.item.id)
    guard let menubar = addresses.menubar, let menu = item.menu else { return done(.failure(gone)) }
    var menus = GTKMenus(group: menu)
    ask(
      menubar, Self.menusInterface, "Start", [Self.numbers(menus.next())], timeout: ProgramBus.changeTimeout
    ) { [self] answer in
      if case .failure(let error) = answer, error.isLate { return end(menubar, menus) { _ in done(.failure(error)) } }
      let isThere =
        if case .success(let values) = answer { menus.add(values.first) && menus.shows(item) } else { false }
      end(menubar, menus) { _ in if isThere { next() } else { done(.failure(gone)) } }
    }
  }

  /// Asks for the action of an item as it is now; nil: it is not there.
  private func describe(
    _ item: GTKItem, at path: ObjectPath, _ done: @escaping (Result<GTKAction?, DBusError>) -> Void
  ) {
    ask(path, Self.actionsInterface, "Describe", [.string(item.name)], timeout: ProgramBus.changeTimeout) { answer in
      switch answer {
      // Programs spell the answer as one structure, or as its members.
      case .success(let values): done(.success(GTKAction(values.count == 1 ? values[0] : .structure(values))))
      case .failure(let error): done(error.isLate ? .failure(error) : .success(nil))
      }
    }
  }

  /// Opens and closes menus, as far as the program is told of that: it may look only then what is enabled.
  private func refresh(_ openers: [String]) {
    let openers = openers.compactMap { opener -> (ObjectPath, String)? in
      guard let dot = opener.firstIndex(of: "."), let path = addresses.actions[String(opener[..<dot])] else {
        return nil
      }
      return (path, String(opener[opener.index(after: dot)...]))
    }
    for (isOpen, each) in [(true, openers), (false, openers.reversed())] {
      for (path, name) in each {
        bus.tell(
          addresses.program, path, Self.actionsInterface, "SetState",
          [.string(name), .variant(.boolean(isOpen)), .properties([])])
      }
    }
  }

  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    guard let item = items[id], let path = addresses.actions[item.group] else { return done(.failure(.itemGone(id))) }
    bus.call(
      addresses.program, path, Self.actionsInterface, "Activate",
      [.string(item.name), .variants(item.target.map { [$0] } ?? []), .properties([])], timeout: Self.patience,
      isOptional: true
    ) { done($0.map { _ in }) }
  }

  func received(_ message: Message) {
    guard message.sender == addresses.program, message.interface == Self.actionsInterface,
      message.member?.text == "Changed", let path = message.path, addresses.actions.values.contains(path),
      let changes = try? message.arguments(elementLimit: 1 << 16)
    else { return }
    let groups = addresses.actions.filter { $0.value == path }.keys
    var hasMore = false
    for group in groups {
      var added: [String] = []
      for reading in readings + [last] { added += reading.actions[group]?.apply(changes) ?? [] }
      // Most changes only enable or disable what is there.
      guard !added.isEmpty else { continue }
      // A menu may show it under any label, and from now on.
      let known = Set(items.values.filter { $0.group == group }.map(\.name))
      if !known.isSuperset(of: added) { hasMore = true }
    }
    forgetActions()
    for (id, item) in items where item.openers.isEmpty && groups.contains(item.group) {
      let isEnabled = last.actions[item.group]?[item.name]?.isEnabled == true
      guard isEnabled != item.item.isEnabled else { continue }
      items[id]?.item.isEnabled = isEnabled
      onEnabled?(id, isEnabled)
    }
    if hasMore { onMore?() }
  }

  // MARK: Calls

  private func ask(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue], timeout: Duration,
    _ handler: @escaping (ProgramBus.Answer) -> Void
  ) {
    bus.call(addresses.program, path, interface, member, arguments, timeout: timeout, handler)
  }
}
