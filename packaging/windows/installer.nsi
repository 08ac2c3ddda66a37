; The installer for Windows, for the current user: no administrator is asked for.
; makensis -DVERSION=… -DSTAGED=… -DUNINSTALLED=… -DICON=… -DOUT=… installer.nsi, as `build` calls it
Unicode true
SetCompressor /SOLID lzma
RequestExecutionLevel user
Name "Sluice ${VERSION}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Sluice"
InstallDirRegKey HKCU "Software\Sluice" "InstallDir"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Sluice"

!include "MUI2.nsh"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\sluice-window.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "French"
!insertmacro MUI_LANGUAGE "Spanish"
!insertmacro MUI_LANGUAGE "Japanese"
!insertmacro MUI_LANGUAGE "SimpChinese"

Section
    SetOutPath "$INSTDIR"
    File /r "${STAGED}/*"
    CreateShortcut "$SMPROGRAMS\Sluice.lnk" "$INSTDIR\sluice-window.exe"
    WriteUninstaller "$INSTDIR\uninstall.exe"
    WriteRegStr HKCU "Software\Sluice" "InstallDir" "$INSTDIR"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Sluice"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\sluice.exe"
    WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
    WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
    WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
    ; Notifications are shown under this name.
    WriteRegStr HKCU "Software\Classes\AppUserModelId\localhost.sluice.sluice" "DisplayName" "Sluice"
    ; "Open with" offers Sluice for images and clips; what opens them by default stays as it is.
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\shell\open\command" "" '"$INSTDIR\sluice-window.exe" open "%1"'
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe" "FriendlyAppName" "Sluice"
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\SupportedTypes" ".png" ""
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\SupportedTypes" ".jpg" ""
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\SupportedTypes" ".jpeg" ""
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\SupportedTypes" ".webp" ""
    WriteRegStr HKCU "Software\Classes\Applications\sluice-window.exe\SupportedTypes" ".mp4" ""
SectionEnd

; Images, models and settings of the user are elsewhere and stay.
Section "Uninstall"
    !include "${UNINSTALLED}"
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
    Delete "$SMPROGRAMS\Sluice.lnk"
    DeleteRegKey HKCU "${UNINSTALL}"
    DeleteRegKey HKCU "Software\Sluice"
    DeleteRegKey HKCU "Software\Classes\Applications\sluice-window.exe"
    DeleteRegKey HKCU "Software\Classes\AppUserModelId\localhost.sluice.sluice"
SectionEnd
