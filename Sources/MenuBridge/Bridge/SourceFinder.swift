internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// What the session tells of windows and processes.
protocol FrontSession: AnyObject {
  /// Whether no other window of the process is known.
  func isAlone(_ window: ObjectPath, of process: UInt32) -> Bool
  /// How long a window has been in front, or nil.
  func timeInFront(of window: ObjectPath) -> Duration?
  /// Reads a window's title; nil if it has none.
  func readTitle(of window: ObjectPath, _ done: @escaping (String?) -> Void)
  /// Whether the program of a process is never looked into.
  func isIgnored(_ process: UInt32) -> Bool
}

/// Finds the ways in which a window's program offers commands.
final class SourceFinder {
  /// A window, as the daemon and the window bridge know it.
  struct Window {
    let path: ObjectPath
    let process: UInt32
    /// That one, and those in the same Flatpak, whose messages come from a proxy.
    let processes: Set<UInt32>
    /// Whether the window manager tells the process.
    let isSure: Bool
    /// Where the window bridge says that its menus are.
    var addresses: [String: String] = [:]
    /// How long its program may take for each question.
    var timeout = ProgramBus.questionTimeout

    subscript(name: String) -> ObjectPath? { addresses[name].flatMap { try? ObjectPath($0) } }

    /// The number that X11 has for the window, if its field is named after it.
    var number: UInt32? {
      guard let id = path.elements.last, id.first == "w" else { return nil }
      return UInt32(id.dropFirst())
    }
  }

  /// How long one of several windows of a program must be in front before it is asked which one is active.
  private static let settling = Duration.milliseconds(250)
  private static let registrar = BusName(known: "com.canonical.AppMenu.Registrar")

  private let bus: ProgramBus
  private let accessible: AccessiblePrograms
  private weak var session: (any FrontSession)?
  private let processes = ConnectionProcesses()
  /// Which window each frame of a program with several was found to be.
  private var frames: [ElementReference: ObjectPath] = [:]

  init(_ bus: ProgramBus, _ accessible: AccessiblePrograms, _ session: any FrontSession) {
    (self.bus, self.accessible, self.session) = (bus, accessible, session)
  }

  /// A window is gone.
  func forget(_ window: ObjectPath) { frames = frames.filter { $0.value != window } }

  /// Finds the sources of a window that is in front, the best first, and whether more may be told later: the program was too
  /// slow, or another window of it may be in front.
  func find(for window: Window, _ done: @escaping ([any MenuSource], _ isLate: Bool) -> Void) {
    gtk(window) { [self] gtk in
      // LibreOffice shows its menus to accessibility, and runs none of them.
      if let gtk, gtk.menubar != nil, gtk.isOffice { return done([GTKSource(bus, gtk)], false) }
      accessible.windows(of: window.processes, timeout: window.timeout) { [self] told, active in
        let (frames, isLate) = (told ?? [], told == nil)
        if let gtk, gtk.menubar != nil {
          // Its menu bar is the same, and takes many more questions; but it tells the keys.
          let source = GTKSource(bus, gtk)
          let supplement = SupplementSource(to: source)
          choose(window, frames, active) { [self] in supplement.choose(bar(frames, $0)) }
          return done([source, supplement], false)
        }
        choose(window, frames, active) { [self] active in
          let bar = bar(frames, active)
          // Of which of several windows it is may be known later.
          let isLate = isLate || (!frames.isEmpty && active == nil)
          if let gtk { return done([GTKSource(bus, gtk)] + (bar.map { [$0] } ?? []), isLate) }
          ofProcess(window, told, active) { [self] found, isUnsure in
            var sources = found
            let menus = found.lazy.compactMap { $0 as? GTKSource }.first { $0.hasMenubar }
            if let bar { sources.append(menus.map { SupplementSource(to: $0, bar) } ?? bar) }
            dbusmenu(window) { menu in done(sources + (menu.map { [$0] } ?? []), isLate || isUnsure) }
          }
        }
      }
    }
  }

  private func bar(_ frames: [ElementReference], _ active: Int?) -> MenuBarSource? {
    active.flatMap { index in
      accessible.bus.map { MenuBarSource($0, frame: frames[index]) }
    }
  }

  /// Whether a window's program is sure to have no other.
  private func isAlone(_ window: Window) -> Bool {
    window.isSure && session?.isAlone(window.path, of: window.process) == true
  }

  /// Which of a program's windows the one in front is; nil if that is not sure.
  private func choose(
    _ window: Window, _ frames: [ElementReference], _ active: Int?, _ done: @escaping (Int?) -> Void
  ) {
    guard let session else { return done(active) }
    // If there is another window, one frame may be that one's: a window manager may take a program for another one.
    if frames.isEmpty || (frames.count == 1 && isAlone(window)) { return done(active) }
    // If another window was in front meanwhile, it began anew.
    let take = { [self] (index: Int?, least: Duration) in
      guard let index, let time = session.timeInFront(of: window.path), time >= least,
        self.frames[frames[index]] ?? window.path == window.path
      else { return done(nil) }
      self.frames[frames[index]] = window.path
      done(index)
    }
    session.readTitle(of: window.path) { [self] title in
      accessible.find(title ?? "", among: frames, timeout: window.timeout) { [self] named in
        if let named { return take(named, .zero) }
        // A program learns later than the window bridge that another of its windows is in front.
        guard let time = session.timeInFront(of: window.path) else { return done(nil) }
        bus.loop.schedule(after: max(.zero, Self.settling - time)) { [self] in
          accessible.findActive(frames, timeout: window.timeout) { take($0, Self.settling) }
        }
      }
    }
  }

  // MARK: The window's own word

  private func gtk(_ window: Window, _ done: @escaping (GTKAddresses?) -> Void) {
    guard let name = window.addresses["gtk-unique-bus-name"].flatMap({ try? BusName($0) }) else { return done(nil) }
    owner(of: name) { [weak self] in
      self?.session?.isIgnored($0) == false
    } _: { owner in
      guard let owner else { return done(nil) }
      var addresses = GTKAddresses(program: owner)
      addresses.actions["app"] = window["gtk-application-object-path"]
      addresses.actions["win"] = window["gtk-window-object-path"]
      addresses.actions["unity"] = window["unity-object-path"]
      addresses.menubar = window["gtk-menubar-object-path"]
      done(addresses)
    }
  }

  /// The connection behind a name that a program tells, if it is of a process that may be meant.
  private func owner(
    of name: BusName, where isMeant: @escaping (UInt32) -> Bool, _ done: @escaping (BusName?) -> Void
  ) {
    bus.connection.askOwner(of: name) { [weak self] result in
      guard let self, let owner = try? result.get() else { return done(nil) }
      bus.connection.askProcess(of: owner, timeout: ProgramBus.changeTimeout) { result in
        done((try? result.get()).map(isMeant) == true ? owner : nil)
      }
    }
  }

  // MARK: By process

  /// What the connections of the window's process have, if it is sure that it is no dialog: that is of the window behind it.
  private func ofProcess(
    _ window: Window, _ frames: [ElementReference]?, _ active: Int?,
    _ done: @escaping ([any MenuSource], _ isUnsure: Bool) -> Void
  ) {
    guard let frames else { return done([], false) }
    if frames.isEmpty { return ofConnections(window, frames: 0, active, done) }
    // What was found before may be the window's, in which somebody may be no more.
    guard let active else { return done([], true) }
    if frames.count == 1 { return ofConnections(window, frames: 1, active, done) }
    var windows: [Int: Bool] = [:]
    let answers = Answers { [self] in
      // One that does not say what it is has no commands, and counts as none.
      guard let isWindow = windows[active] else { return done([], true) }
      guard isWindow else { return done([], false) }
      let others = windows.filter(\.value).keys.sorted()
      ofConnections(window, frames: others.count, others.firstIndex(of: active), done)
    }
    for (index, frame) in frames.enumerated() {
      let answered = answers.expect { (isDialog: Bool?) in windows[index] = isDialog.map { !$0 } }
      accessible.isDialog(frame, timeout: window.timeout, answered)
    }
    answers.finish()
  }

  /// What the connections of the window's process have; of several windows that are no dialogs, the one whose place the active
  /// one has among them.
  ///
  /// It `isUnsure` if another of them may be in front by now: what was found before may be the window's.
  private func ofConnections(
    _ window: Window, frames: Int, _ active: Int?,
    _ done: @escaping ([any MenuSource], _ isUnsure: Bool) -> Void
  ) {
    processes.update(from: bus.connection) { [weak self] in
      guard let self else { return done([], false) }
      let names = processes.known.filter { window.processes.contains($0.value) }.keys.sorted()
      search(names.prefix(4), timeout: window.timeout) { [weak self] program, objects in
        guard let self, let program else { return done([], objects.isPartial) }
        // Of a program without accessibility, another window may be a dialog.
        let mayBeDialog = frames == 0 && !isAlone(window)
        let chosen = mayBeDialog ? nil : objects.window(ofFrames: frames, active)
        var sources: [any MenuSource] = []
        if let window = chosen {
          var addresses = GTKAddresses(program: program)
          addresses.actions["win"] = window
          addresses.actions["app"] = objects.application
          addresses.menubar = objects.menubar
          if addresses.isOffice { addresses.menubar = try? window.appending("menus").appending("menubar") }
          sources.append(GTKSource(bus, addresses))
        }
        let isUnsure = objects.isPartial || (!objects.windows.isEmpty && chosen == nil)
        let take = { (main: ObjectPath?) in
          if let main { sources.append(KDESource(self.bus, program, window: main)) }
          done(sources, isUnsure || (main == nil && !objects.mainWindows.isEmpty))
        }
        // It is that of the only frame, or of the only one that is no dialog.
        if objects.mainWindows.count <= 1, frames == 1 { return take(objects.mainWindows.first) }
        findActive(objects.mainWindows, of: program, window, take)
      }
    }
  }

  /// The main window of KDE's that its program says is active, after the window was in front for a while; nil if none is.
  ///
  /// Their numbers tell no order: a new window has the lowest that is free.
  private func findActive(
    _ mainWindows: [ObjectPath], of program: BusName, _ window: Window, _ done: @escaping (ObjectPath?) -> Void
  ) {
    guard let time = session?.timeInFront(of: window.path), !mainWindows.isEmpty else { return done(nil) }
    bus.loop.schedule(after: max(.zero, Self.settling - time)) { [self] in
      let asked = SuspendingClock.now
      var active: [ObjectPath] = []
      let answers = Answers { [self] in
        let time = session?.timeInFront(of: window.path) ?? .zero
        done(time >= Self.settling + (SuspendingClock.now - asked) && active.count == 1 ? active[0] : nil)
      }
      for path in mainWindows.prefix(ObjectSearch.mostWindows) {
        bus.call(
          program, path, .properties, "Get", [.string("org.qtproject.Qt.QWidget"), .string("isActiveWindow")],
          timeout: window.timeout,
          answers.expect { (answer: ProgramBus.Answer) in
            if case .success(let values) = answer, values.first?.variantContent == .boolean(true) {
              active.append(path)
            }
          })
      }
      answers.finish()
    }
  }

  /// The first of a process's connections that has windows.
  private func search(
    _ names: ArraySlice<BusName>, timeout: Duration, _ done: @escaping (BusName?, ProgramObjects) -> Void
  ) {
    guard let name = names.first else { return done(nil, ProgramObjects()) }
    ObjectSearch(bus, name, timeout: timeout).find { [weak self] objects in
      guard let self, objects.isEmpty else { return done(name, objects) }
      search(names.dropFirst(), timeout: timeout) { program, others in
        var others = others
        others.isPartial = others.isPartial || (program == nil && objects.isPartial)
        done(program, others)
      }
    }
  }

  // MARK: A menu given away

  /// The menu that a window's program has registered, if somebody keeps such a list.
  private func dbusmenu(_ window: Window, _ done: @escaping ((any MenuSource)?) -> Void) {
    let accept = { [weak self] (name: BusName, path: ObjectPath) in
      guard let self else { return done(nil) }
      // Whose number it is may be another window's.
      owner(of: name, where: window.processes.contains) { [bus] owner in
        done(owner.map { DBusMenuSource(bus, $0, path) })
      }
    }
    if let name = window.addresses["kde-appmenu-service-name"].flatMap({ try? BusName($0) }),
      let path = window["kde-appmenu-object-path"]
    {
      return accept(name, path)
    }
    guard let number = window.number else { return done(nil) }
    // Asked for, never started: programs would take their menu bars out of their windows.
    bus.connection.askOwner(of: Self.registrar) { [weak self] owner in
      guard let self, let owner = try? owner.get() else { return done(nil) }
      bus.call(
        owner, ObjectPath(known: "/com/canonical/AppMenu/Registrar"),
        InterfaceName(known: "com.canonical.AppMenu.Registrar"), "GetMenuForWindow", [.uint32(number)]
      ) { answer in
        guard case .success(let values) = answer, values.count == 2, case .string(let name) = values[0],
          case .objectPath(let path) = values[1], let name = try? BusName(name)
        else { return done(nil) }
        accept(name, path)
      }
    }
  }
}
