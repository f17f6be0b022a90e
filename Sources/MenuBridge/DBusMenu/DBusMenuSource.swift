internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// The menu bar that a program has given away: `com.canonical.dbusmenu`.
final class DBusMenuSource: MenuSource {
  private static let interface = InterfaceName(known: "com.canonical.dbusmenu")
  private static let deepest = 8
  /// The most menus that a program is told it is about to show.
  private static let mostFilled = 32

  private let bus: ProgramBus
  private let program: BusName
  private let path: ObjectPath
  /// An item, by the numbers that it and its menus have.
  private struct Place {
    let number: Int32
    let menus: [Int32]
    let item: MenuItem
  }

  /// The items that were read last, by id.
  private var items: [String: Place] = [:]

  init(_ bus: ProgramBus, _ program: BusName, _ path: ObjectPath) {
    (self.bus, self.program, self.path) = (bus, program, path)
  }

  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    layout(isWhole, timeout) { [weak self] layout in
      guard let self else { return }
      guard case .success(let root?) = layout else { return end(layout, done) }
      let unfilled = Self.unfilled(root, below: isWhole ? Self.deepest - 1 : 1).prefix(Self.mostFilled)
      guard !unfilled.isEmpty else { return end(layout, done) }
      let answers = Answers { [weak self] in
        self?.layout(isWhole, timeout) { [weak self] filled in
          // What was there before is better than nothing.
          if case .success(_?) = filled { self?.end(filled, done) } else { self?.end(layout, done) }
        }
      }
      for number in unfilled { show(number, timeout, answers) }
      answers.finish()
    }
  }

  /// Tells the program that it is about to show a menu, which it may fill or bring up to date.
  private func show(_ menu: Int32, _ timeout: Duration, _ answers: Answers) {
    bus.call(
      program, path, Self.interface, "AboutToShow", [.int32(menu)], timeout: timeout, isOptional: true,
      answers.expect { (_: ProgramBus.Answer) in })
  }

  /// Asks for the menus; nil for what is none.
  private func layout(
    _ isWhole: Bool, _ timeout: Duration, _ handler: @escaping (Result<DBusValue?, DBusError>) -> Void
  ) {
    let question: [DBusValue] = [.int32(0), .int32(isWhole ? Int32(Self.deepest) : 3), .strings([])]
    bus.call(program, path, Self.interface, "GetLayout", question, timeout: timeout) { answer in
      // The menu is there, though not read.
      if case .failure(let error) = answer, error.isLate || error.name == .limitsExceeded {
        return handler(.failure(error))
      }
      guard case .success(let values) = answer, values.count == 2 else { return handler(.success(nil)) }
      handler(.success(values[1]))
    }
  }

  private func end(
    _ layout: Result<DBusValue?, DBusError>, _ done: (Result<[MenuItem], DBusError>) -> Void
  ) {
    switch layout {
    case .failure(let error): done(.failure(error))
    case .success(nil): done(.success([]))
    case .success(let root?):
      items = [:]
      var list = ItemList()
      append(root, menus: [], numbers: [], to: &list)
      done(.success(list.items))
    }
  }

  /// The menus without items, down to a depth: some programs, such as Electron's, fill them when they are opened.
  private static func unfilled(_ node: DBusValue, depth: Int = 0, below most: Int) -> [Int32] {
    guard depth <= most, case .structure(let members) = node, members.count == 3, case .int32(let number) = members[0],
      case .dictionary(let properties) = members[1], case .array(let children) = members[2],
      properties[.string("visible")]?.variantContent != .boolean(false)
    else { return [] }
    let isMenu = properties[.string("children-display")]?.variantContent == .string("submenu")
    if depth > 0, isMenu, children.isEmpty { return [number] }
    return children.flatMap { unfilled($0.variantContent ?? $0, depth: depth + 1, below: most) }
  }

  private func append(_ node: DBusValue, menus: [String], numbers: [Int32], to list: inout ItemList) {
    let depth = numbers.count
    guard depth <= Self.deepest, case .structure(let members) = node, members.count == 3,
      case .int32(let number) = members[0], case .dictionary(let properties) = members[1],
      case .array(let children) = members[2], properties[.string("visible")]?.variantContent != .boolean(false)
    else { return }
    let isMenu = properties[.string("children-display")]?.variantContent == .string("submenu")
    if depth == 0 || isMenu || !children.isEmpty {
      let inside = depth == 0 ? menus : menus + [Self.label(properties)]
      for child in children where !list.isFull {
        append(child.variantContent ?? child, menus: inside, numbers: numbers + [number], to: &list)
      }
    } else if let found = Self.item(properties, in: menus), let item = list.addNumbered(found) {
      items[item.id] = Place(number: number, menus: numbers, item: item)
    }
  }

  private static func label(_ properties: DBusDictionary) -> String {
    guard case .string(let text)? = properties[.string("label")]?.variantContent else { return "" }
    return MenuText.label(text, mnemonic: "_")
  }

  private static func item(_ properties: DBusDictionary, in menus: [String]) -> MenuItem? {
    let label = label(properties)
    guard !label.isEmpty, properties[.string("type")]?.variantContent != .string("separator") else { return nil }
    var accelerator = ""
    if case .array(let shortcuts)? = properties[.string("shortcut")]?.variantContent,
      case .array(let keys)? = shortcuts.first
    {
      let names = keys.prefix(8).compactMap(\.basicText).map { name in
        name == "Control" ? "Ctrl" : String(String.UnicodeScalarView(name.unicodeScalars.prefix(64)))
      }
      accelerator = Accelerator.shown(qt: names.joined(separator: "+"))
    }
    var isChecked: Bool?
    if case .string(let kind)? = properties[.string("toggle-type")]?.variantContent, !kind.isEmpty {
      isChecked = properties[.string("toggle-state")]?.variantContent == .int32(1)
    }
    return MenuItem(
      id: MenuText.id(menus: menus, label: label), menus: menus, label: label, accelerator: accelerator,
      isEnabled: properties[.string("enabled")]?.variantContent != .boolean(false), isChecked: isChecked)
  }

  func forget(except ids: Set<String>) { items = items.filter { ids.contains($0.key) } }

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    guard let place = items[id] else { return done(.failure(.itemGone(id))) }
    properties(of: place) { [self] result in
      guard case .success(let item) = result, !item.isEnabled else { return done(result) }
      // Many programs turn items on and off only when the menu is opened.
      let answers = Answers { [self] in
        properties(of: place) { again in
          if case .success = again { done(again) } else { done(result) }
        }
      }
      for menu in place.menus { show(menu, ProgramBus.questionTimeout, answers) }
      answers.finish()
    }
  }

  private func properties(of place: Place, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    let (known, question) = (
      place.item, [DBusValue.array(DBusArray(known: .int32, [.int32(place.number)])), .strings([])]
    )
    bus.call(
      program, path, Self.interface, "GetGroupProperties", question, timeout: ProgramBus.changeTimeout
    ) { answer in
      if case .failure(let error) = answer, error.isLate { return done(.failure(error)) }
      guard case .success(let values) = answer, case .array(let all)? = values.first,
        case .structure(let members)? = all.first, members.count == 2, members[0] == .int32(place.number),
        case .dictionary(let properties) = members[1],
        properties[.string("visible")]?.variantContent != .boolean(false),
        properties[.string("children-display")]?.variantContent != .string("submenu"),
        let now = Self.item(properties, in: known.menus), now.isSame(as: known)
      else { return done(.failure(.itemGone(known.id))) }
      var item = now
      item.id = known.id
      done(.success(item))
    }
  }

  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    guard let number = items[id]?.number else { return done(.failure(.itemGone(id))) }
    bus.call(
      program, path, Self.interface, "Event",
      [.int32(number), .string("clicked"), .variant(.int32(0)), .uint32(0)], timeout: Self.patience, isOptional: true
    ) { done($0.map { _ in }) }
  }
}
