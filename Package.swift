// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Warnings are errors where `.ci/common` sets FOCUSD_STRICT; whoever depends on the package has other compilers and flags.
///
/// Its debug builds are there to be tested, not debugged: compiled as whole modules, they take less time, and a fifth less again
/// if each module is read once, not once more for its interface.
let isStrict = Context.environment["FOCUSD_STRICT"] != nil
let quick = ["-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo"]
let strict: [SwiftSetting] =
  (isStrict ? [.treatAllWarnings(as: .error), .unsafeFlags(quick, .when(configuration: .debug))] : []) + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ]

/// Whether pkg-config knows these libraries, which only some of the programs need.
func isInstalled(_ libraries: String...) -> Bool {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["pkg-config", "--exists"] + libraries
  process.standardError = FileHandle.nullDevice
  do { try process.run() } catch { return false }
  process.waitUntilExit()
  return process.terminationStatus == 0
}

/// Whether a distribution builds the programs: they are hardened then, and start a little later.
let isHardened = Context.environment["FOCUSD_HARDENED"] != nil
/// A release does not depend on the compiler's runtime libraries.
let selfContained: [String] =
  ["-Xclang-linker", "-static-libgcc"] + (isHardened ? ["-Xlinker", "-z", "-Xlinker", "now"] : [])

let package = Package(
  name: "focusd",
  products: [
    .executable(name: "focusd", targets: ["focusd"]),
    .executable(name: "focusctl", targets: ["focusctl"]),
    .executable(name: "focusd-accessibility", targets: ["focusd-accessibility"]),
    .executable(name: "focusd-menus", targets: ["focusd-menus"]),
    // Its interface has the types of DBusTypes, for types that convert themselves.
    .library(name: "FocusKit", targets: ["FocusKit", "DBusTypes"]),
  ],
  targets: [
    .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

    .target(name: "DBusTypes", swiftSettings: strict),
    .target(name: "EventLoop", dependencies: ["CLinux"], swiftSettings: strict),
    .target(
      name: "DBus", dependencies: ["CDBus", "CExpat", "DBusTypes", "EventLoop"], swiftSettings: strict),
    .target(name: "ProgramSupport", dependencies: ["CLinux", "DBus", "DBusTypes", "EventLoop"], swiftSettings: strict),
    .target(name: "FocusContract", dependencies: ["DBusTypes"], swiftSettings: strict),
    .target(
      name: "DaemonClient", dependencies: ["DBus", "DBusTypes", "EventLoop", "FocusContract"], swiftSettings: strict),
    .target(name: "FocusModel", dependencies: ["DBusTypes", "FocusContract"], swiftSettings: strict),
    .target(
      name: "FocusService",
      dependencies: ["CSQLite", "DBus", "DBusTypes", "EventLoop", "FocusContract", "FocusModel", "ProgramSupport"],
      swiftSettings: strict),
    .target(
      name: "FocusKit", dependencies: ["DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract"],
      swiftSettings: strict),
    .executableTarget(
      name: "Counter", dependencies: ["FocusKit"], path: "Sources/Examples/Counter", swiftSettings: strict),
    .executableTarget(
      name: "TutorialForm", dependencies: ["FocusKit"], path: "Sources/Examples/TutorialForm", swiftSettings: strict),
    .executableTarget(
      name: "TutorialToolbar", dependencies: ["FocusKit"], path: "Sources/Examples/TutorialToolbar",
      swiftSettings: strict),
    .executableTarget(
      name: "VolumeSlider", dependencies: ["FocusKit"], path: "Sources/Examples/VolumeSlider", swiftSettings: strict),
    .executableTarget(
      name: "StatusLine", dependencies: ["FocusKit"], path: "Sources/Examples/StatusLine", swiftSettings: strict),
    .executableTarget(
      name: "focusd", dependencies: ["DBus", "EventLoop", "FocusContract", "FocusService", "ProgramSupport"],
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(selfContained, .when(configuration: .release))]),
    .executableTarget(
      name: "focusctl",
      dependencies: ["CLinux", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract", "ProgramSupport"],
      swiftSettings: strict,
      // A fixed address avoids relocations, which take a sixth of the time of one call.
      linkerSettings: [
        .unsafeFlags(
          selfContained + (isHardened ? [] : ["-Xclang-linker", "-no-pie"]), .when(configuration: .release))
      ]),

    .target(
      name: "BridgeSupport", dependencies: ["DBus", "DBusTypes", "EventLoop", "ProgramSupport"], swiftSettings: strict),
    .target(
      name: "AccessibilityBridge",
      dependencies: [
        "BridgeSupport", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract", "ProgramSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "focusd-accessibility",
      dependencies: ["AccessibilityBridge", "DBus", "FocusContract", "ProgramSupport"],
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(selfContained, .when(configuration: .release))]),

    .target(
      name: "MenuBridge",
      dependencies: [
        "BridgeSupport", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract", "ProgramSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "focusd-menus",
      dependencies: ["DBus", "FocusContract", "MenuBridge", "ProgramSupport"],
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(selfContained, .when(configuration: .release))]),
    .testTarget(
      name: "MenuBridgeTests",
      dependencies: [
        "BridgeSupport", "BusSupport", "DBus", "DBusTypes", "EventLoop", "FocusContract", "MenuBridge", "TestSupport",
        "focusctl", "focusd", "focusd-menus",
      ],
      resources: [.copy("Resources")], swiftSettings: strict),

    .testTarget(
      name: "FocusctlTests",
      dependencies: [
        "BusSupport", "DBus", "DBusTypes", "EventLoop", "ProgramSupport", "TestSupport", "focusctl", "focusd",
      ],
      exclude: ["Resources", "complete.zsh"], swiftSettings: strict),
    .testTarget(
      name: "FocusModelTests", dependencies: ["DBusTypes", "FocusContract", "FocusModel", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "FocusServiceTests",
      dependencies: [
        "BusSupport", "CDBus", "DBus", "DBusTypes", "EventLoop", "FocusService", "ProgramSupport", "TestSupport",
      ],
      swiftSettings: strict),
    .target(
      name: "TestSupport", dependencies: ["DBus", "DBusTypes", "EventLoop", "FocusModel"], path: "Tests/TestSupport",
      resources: [.copy("Resources")], swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]),
    .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DBusTypesTests", dependencies: ["DBusTypes", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "DBusTests", dependencies: ["BusSupport", "CDBus", "DBus", "DBusTypes", "EventLoop", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "FocusKitTests",
      dependencies: [
        "BusSupport", "Counter", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract", "FocusKit",
        "LoopPlayer", "ScenePlayer", "StatusLine",
        "TestSupport", "TutorialForm", "TutorialToolbar", "VolumeSlider", "focusctl", "focusd",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "ScenePlayer", dependencies: ["FocusKit"], path: "Tests/ScenePlayer", swiftSettings: strict),
    .executableTarget(
      name: "LoopPlayer", dependencies: ["FocusKit"], path: "Tests/LoopPlayer", swiftSettings: strict),
    .testTarget(
      name: "BoundTests",
      dependencies: ["BusSupport", "DBus", "DBusTypes", "EventLoop", "TestSupport", "focusctl", "focusd"],
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(
      name: "SystemdTests", dependencies: ["TestSupport", "focusd", "focusctl"],
      exclude: ["user-manager", "without-user-namespaces"],
      swiftSettings: strict),
    .testTarget(
      name: "AccessibilityTests",
      dependencies: [
        "AccessibilityBridge", "BridgeSupport", "BusSupport", "DBus", "DBusTypes", "EventLoop", "FocusContract",
        "TestSupport", "focusctl", "focusd", "focusd-accessibility",
      ],
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(
      name: "SceneTests",
      dependencies: ["BusSupport", "DBus", "DBusTypes", "EventLoop", "TestSupport", "focusctl", "focusd"],
      swiftSettings: strict),
    .target(name: "CBenchmarkClient", dependencies: ["CDBus"], path: "Tests/Benchmarks/Client"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: ["CBenchmarkClient", "DBus", "DBusTypes", "EventLoop", "FocusKit", "TestSupport"],
      path: "Tests/Benchmarks/Suite", swiftSettings: strict),
    .testTarget(
      name: "BindingTests",
      dependencies: ["BusSupport", "DBus", "DBusTypes", "EventLoop", "TestSupport", "focusctl", "focusd"],
      resources: [.copy("Resources")], swiftSettings: strict),
    .target(
      name: "BusSupport", dependencies: ["DBus", "DBusTypes", "EventLoop", "TestSupport"], path: "Tests/BusSupport",
      swiftSettings: strict),
    .testTarget(
      name: "JournalTests",
      dependencies: [
        "CSQLite", "DBus", "DBusTypes", "FocusContract", "FocusModel", "FocusService", "ProgramSupport", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CrashTests",
      dependencies: ["BusSupport", "DBus", "DBusTypes", "EventLoop", "TestSupport", "focusd", "focusctl"],
      resources: [.copy("Resources")], swiftSettings: strict),
    .testTarget(
      name: "HostileTests",
      dependencies: ["BusSupport", "DBus", "DBusTypes", "EventLoop", "FocusService", "TestSupport", "focusd"],
      resources: [.copy("Resources")], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// The bridges that read JSON, unless the library is missing: a machine without a desktop builds the rest.
if isInstalled("jansson") {
  package.products.append(.executable(name: "focusd-browser", targets: ["focusd-browser"]))
  package.targets += [
    .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .target(name: "BridgeJSON", dependencies: ["CJansson"], swiftSettings: strict),
    .target(
      name: "BrowserBridge",
      dependencies: [
        "BridgeJSON", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract", "ProgramSupport",
      ],
      exclude: ["Extension"], swiftSettings: strict),
    .executableTarget(
      name: "focusd-browser",
      dependencies: ["BrowserBridge", "DBus", "EventLoop", "FocusContract", "ProgramSupport"],
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(selfContained, .when(configuration: .release))]),
    .testTarget(
      name: "BrowserBridgeTests",
      dependencies: [
        "BridgeJSON", "BrowserBridge", "BusSupport", "DBus", "DBusTypes", "EventLoop", "FocusContract", "TestSupport",
        "focusctl", "focusd", "focusd-browser",
      ],
      resources: [.copy("Resources")], swiftSettings: strict),
  ]
}

// The window bridge, likewise.
if isInstalled("xcb-res", "jansson") {
  package.products.append(.executable(name: "focusd-windows", targets: ["focusd-windows"]))
  package.targets += [
    .systemLibrary(name: "CXCB", pkgConfig: "xcb-res", providers: [.apt(["libxcb1-dev", "libxcb-res0-dev"])]),
    .target(
      name: "WindowBridge",
      dependencies: [
        "BridgeJSON", "BridgeSupport", "CXCB", "DBus", "DBusTypes", "DaemonClient", "EventLoop", "FocusContract",
        "ProgramSupport",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "focusd-windows",
      dependencies: ["DBus", "EventLoop", "FocusContract", "ProgramSupport", "WindowBridge"],
      swiftSettings: strict,
      linkerSettings: [.unsafeFlags(selfContained, .when(configuration: .release))]),
    .testTarget(
      name: "WindowBridgeTests",
      dependencies: [
        "BridgeJSON", "BridgeSupport", "BusSupport", "DBus", "DBusTypes", "EventLoop", "FocusContract",
        "ProgramSupport", "TestSupport", "WindowBridge", "focusctl", "focusd", "focusd-windows",
      ],
      resources: [.copy("Resources")], swiftSettings: strict),
  ]
}

// Only where GTK is; no product of the package needs it.
if isInstalled("gtk4") {
  package.targets += [
    .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .executableTarget(
      name: "GTKControls", dependencies: ["CGTK", "FocusKit"], path: "Sources/Examples/GTKControls",
      swiftSettings: strict),
  ]
}

// It only builds with the fuzzer's flags, which .ci/fuzz sets.
if Context.environment["FOCUSD_FUZZ"] != nil {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CLibFuzzer", "DBus", "DBusTypes"], path: "Tests/Fuzz",
      exclude: ["Corpus"],
      swiftSettings: strict),
  ]
}

// Only these and what they need, for `.ci/sanitizers`.
if let only = Context.environment["FOCUSD_ONLY_TARGETS"] {
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var needed: Set<String> = []
  var found = only.split(separator: ",").map(String.init)
  while let name = found.popLast() {
    guard let target = targets[name], needed.insert(name).inserted else { continue }
    for case .byNameItem(let name, _) in target.dependencies { found.append(name) }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
