internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract
internal import ProgramSupport

/// From a window that comes to the front to a field with its commands.
extension MenuBridge {
  /// When a window without menus is looked at again by itself: some programs are late.
  private static let again: [Duration] = [
    .milliseconds(1500), .seconds(3), .seconds(6), .seconds(12), .seconds(24),
  ]
  private static let longestPause = Duration.seconds(60)

  /// Looks for the commands of a window that is in front, unless they are known or it was just looked at.
  func look(at window: ObjectPath, isDue: Bool = false) {
    let menus = windows[window] ?? add(window)
    guard finder != nil, menus.isPoor, !menus.isLooking, isDue || menus.nextLook <= .now else { return }
    menus.looks += 1
    menus.nextLook = .now + min(.seconds(1) * (1 << min(menus.looks - 1, 8)), Self.longestPause)
    menus.isLooking = true
    let next = Continuation { [weak self, weak menus] in
      menus?.isLooking = false
      if let menus { self?.looked(at: menus) }
    }
    // A program that is slow, as on a busy machine, is so at the next look, too.
    let timeout = menus.looks > 1 ? ProgramBus.changeTimeout : ProgramBus.questionTimeout
    link.call(.read(WindowKey.process.description, at: window)) { [weak self] result in
      guard let self else { return next.run() }
      var told: UInt32?
      if case .success(let reading?) = result, case .uint32(let process) = reading.value { told = process }
      addresses(of: window, timeout: timeout) { [weak self, weak menus] addresses, likely in
        guard let self, let menus, let finder, let process = told ?? likely, process > 0 else {
          return next.run()
        }
        (menus.process, menus.isProcessTold) = (process, told != nil)
        guard !isIgnored(process) else {
          log.debug("\(window) is of a program that is never looked into")
          return next.run()
        }
        let found = SourceFinder.Window(
          path: window, process: process, processes: Set([process] + Processes().companions(of: process)),
          isSure: told != nil, addresses: addresses ?? [:], timeout: timeout)
        finder.find(for: found) { [weak self] sources, isLate in
          guard let self else { return }
          findCatalogue(of: process) { catalogue in
            menus.take(sources, isLate: isLate, Recognition(catalogue: catalogue), timeout: timeout, next.run)
          }
        }
      }
    }
  }

  /// A field came into a window, or left it: the window bridge may know the window's program by the field's owner.
  func contentsChanged(at path: ObjectPath, _ origin: FieldOrigin) {
    guard let window = origin.parent, let menus = windows[window], !menus.isProcessTold else { return }
    let isKnown = fields.fields.contains { other, field in
      other != path && field.parent == window && field.owner == origin.owner
    }
    guard !isKnown, origin.owner != link.daemon?.connection.uniqueName?.text else { return }
    guard menus.process == 0 else { return checkProcess(of: window) }
    (menus.looks, menus.nextLook) = (min(menus.looks, 1), .now)
    if front?.scene == window { look(at: window) }
  }

  /// Looks at a window again that the window bridge does not take for its program's any more, as it may be if the window
  /// manager does not tell its process.
  func checkProcess(of window: ObjectPath) {
    guard let menus = windows[window], menus.process > 0, !menus.isProcessTold else { return }
    addresses(of: window, timeout: ProgramBus.questionTimeout) { [weak self] parts, process in
      guard let self, parts != nil, process != menus.process, windows[window] === menus else { return }
      gone(window)
      if front?.scene == window { look(at: window) }
    }
  }

  /// Begins anew with a window, which is not looked at earlier or more often for that.
  func addAgain(_ before: WindowMenus) {
    let menus = add(before.window)
    (menus.looks, menus.nextLook) = (before.looks, before.nextLook)
  }

  private func add(_ window: ObjectPath) -> WindowMenus {
    lastNumber += 1
    let menus = WindowMenus(window, number: lastNumber, on: loop, self)
    windows[window] = menus
    followTitle(of: window, .add)
    return menus
  }

  /// Makes the daemon tell the window's title, or not any more: with another document, a program may have other menus.
  func followTitle(of window: ObjectPath, _ change: Connection.MatchChange) {
    let rule = MatchRule(
      sender: Focus1.busName, path: window, interface: .properties, member: .propertiesChanged,
      arguments: [0: WindowKey.interface.text])
    link.daemon?.connection.changeMatch(change, rule)
  }

  /// The title of a window, or another value of it, has changed.
  func titleChanged(_ window: ObjectPath) {
    guard let menus = windows[window], menus.isPoor, front?.scene == window, !menus.isWaiting else { return }
    menus.isWaiting = true
    // What a title tells comes before the menus that go with it.
    loop.schedule(after: max(.milliseconds(300), menus.nextLook - .now)) { [weak self, weak menus] in
      menus?.isWaiting = false
      if self?.front?.scene == window { self?.look(at: window, isDue: true) }
    }
  }

  /// Asks the window bridge where the menus of a window are, and for its process, which a window manager may not tell; hands over
  /// nil if it does not answer.
  private func addresses(
    of window: ObjectPath, timeout: Duration, _ done: @escaping (_ parts: [String: String]?, _ process: UInt32?) -> Void
  ) {
    guard let programs, let windowBridge else { return done(nil, nil) }
    programs.call(
      windowBridge, Focus1.windowBridgeObject, InterfaceName(known: Focus1.windowBridge.text), "Menus",
      [.objectPath(window)], timeout: timeout
    ) { answer in
      guard case .success(let values) = answer, case .dictionary(let parts)? = values.first else {
        return done(nil, nil)
      }
      var addresses: [String: String] = [:]
      var process: UInt32?
      for part in parts.entries {
        switch (part.key.basicText, part.value.variantContent) {
        case ("process"?, .uint32(let number)?): process = number
        case (let name?, let value?): addresses[name] = value.basicText
        default: break
        }
      }
      done(addresses, process)
    }
  }

  /// What a window offers, as far as few questions tell, is known.
  private func looked(at menus: WindowMenus) {
    guard windows[menus.window] === menus else { return }
    if menus.hasItems, !publisher.contains(menus.number) { publish(menus) }
    guard menus.isPoor, menus.looks <= Self.again.count else { return }
    loop.schedule(after: Self.again[menus.looks - 1]) { [weak self] in
      if self?.front?.scene == menus.window { self?.look(at: menus.window, isDue: true) }
    }
  }

  private func publish(_ menus: WindowMenus) {
    log.debug("\(menus.window) has \(menus.commands.count) standard commands")
    menus.published = Set(menus.commands.keys)
    publisher.add(description(of: menus))
    tellWhenRegistered(menus)
  }

  /// Tells a daemon that comes, or came back, which of a window's commands are enabled.
  func tellWhenRegistered(_ menus: WindowMenus) {
    publisher.whenRegistered(menus.number, id: menus.number) { [weak self] result in
      guard let self, windows[menus.window] === menus else { return }
      switch result {
      case .success: tellEnabled(menus)
      // It is registered once the daemon can save that.
      case .failure(let error) where error.name == Focus1.ioError: tellWhenRegistered(menus)
      case .failure: gone(menus.window)
      }
    }
  }

  /// Hands over the catalogue of the language that a program is in.
  private func findCatalogue(of process: UInt32, _ done: @escaping (Catalogue) -> Void) {
    let own = Processes().environment(of: process)
    guard own.isEmpty, let connection = link.daemon?.connection else {
      return done(catalogue(Catalogue.locale { own[$0] }))
    }
    // In its unit's sandbox the bridge may not read that. It has started before the session imported its language.
    connection.askManagerVariables(Catalogue.variables, timeout: ProgramBus.changeTimeout) { [weak self] session in
      guard let self else { return }
      let session = session ?? [:]
      done(catalogue(Catalogue.locale { session.isEmpty ? Environment.value($0) : session[$0] }))
    }
  }

  private func catalogue(_ locale: String) -> Catalogue {
    if let known = catalogues[locale] { return known }
    let catalogue = Catalogue.installed(locale: locale)
    if catalogues.count >= 8 { catalogues = [:] }
    catalogues[locale] = catalogue
    return catalogue
  }

  // MARK: The field

  private func description(of menus: WindowMenus) -> FieldDescription {
    let object = ObjectPath(known: "/org/focusd/menus/m\(menus.number)")
    var field = FieldDescription(number: menus.number, group: menus.number, objectPath: object)
    field.label = "menus"
    field.isSceneScoped = true
    field.isCoalesced = true
    field.options = [("parent", .objectPath(menus.window))]
    field.requests = .refused
    func command(
      _ key: Key, _ input: [DBusType], _ output: [DBusType] = [],
      _ run: @escaping (WindowMenus, [DBusValue], @escaping (Result<[DBusValue], DBusError>) -> Void) -> Void
    ) {
      field.commands[key] = FieldCommand(input: input, output: output) { [weak menus] arguments, done in
        guard let menus else { return done(.failure(DBusError(.failed, "the window is gone"))) }
        run(menus, arguments, done)
      }
    }
    command(MenuKey.items, [], [.array(MenuKey.itemType)]) { menus, _, done in menus.items(done) }
    command(MenuKey.activate, [.string]) { menus, arguments, done in
      menus.activate(arguments.first?.basicText ?? "") { done($0.map { [] }) }
    }
    command(MenuKey.check, [.string, .boolean]) { menus, arguments, done in
      menus.check(arguments.first?.basicText ?? "", arguments.last == .boolean(true)) { done($0.map { [] }) }
    }
    for name in menus.commands.keys {
      guard let key = try? Key(name) else { continue }
      command(key, []) { menus, _, done in menus.run(name) { done($0.map { [] }) } }
    }
    return field
  }

  /// Tells the daemon which of a window's commands are enabled.
  private func tellEnabled(_ menus: WindowMenus) {
    guard !menus.commands.isEmpty, let path = publisher.path(of: menus.number) else { return }
    link.call(.setEnabled(menus.commands, at: path)) { _ in }
  }

  func isPoorChanged(of menus: WindowMenus) {
    if windows[menus.window] === menus { followTitle(of: menus.window, menus.isPoor ? .add : .remove) }
  }

  func changed(_ menus: WindowMenus) {
    guard windows[menus.window] === menus else { return }
    guard publisher.contains(menus.number) else {
      // They may be its first, which it has added since it was looked at.
      if menus.hasItems { publish(menus) }
      return
    }
    guard menus.published != Set(menus.commands.keys) else { return tellEnabled(menus) }
    menus.published = Set(menus.commands.keys)
    publisher.describe(description(of: menus)) { [weak self] in self?.tellEnabled(menus) }
  }
}
