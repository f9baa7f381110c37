Kran w kuchni znowu przecieka.
Kto zostawił otwarte okno?
Proszę tutaj zdjąć buty.
Jaka wygodna jest ta sofa!
Nigdy nie prasowałem koszuli.
Amina każdego wieczoru przed kolacją podlewa rośliny na balkonie.
Za drzwiami łazienki leży sterta czystych ręczników.
Nasza pralka, którą kupiliśmy w 2009 roku, wciąż działa bez zarzutu.
Nie włączaj zmywarki, dopóki nie będzie całkiem pełna.
Czy możesz powiesić lustro trochę wyżej niż lampę?
Mój budzik dzwoni o 6:15, ale wstaję później.
Zasłony uszyła Zofia z drugiego piętra.
Może dokupimy koców na wypadek, gdyby dziś w nocy wysiadło ogrzewanie?
Dlaczego trzymasz zapasowe klucze w doniczce?
Zanim rodzice wrócili do domu, Diego zamiótł podłogę, wyniósł śmieci i pościelił łóżka.
Chociaż nowy dywan był drogi, sprawia, że zimą salon wydaje się o wiele cieplejszy.
Kiedy o 21:40 zabrakło prądu, zapaliliśmy świece i opowiadaliśmy sobie dawne historie.
Ona mówi, że strych jest pełen pudeł, których nikt nie otworzył, odkąd przeprowadzili się do Lizbony.
Pomalowaliśmy ściany sypialni na jasnozielono, bo stary szary kolor wszystkich przygnębiał.
„Widzieliście gdzieś moje okulary?”, zapytał dziadek, który miał je na czole.
Najmniejszy pokój w naszym mieszkaniu ma tylko 6 metrów kwadratowych, a jednak jest z niego najlepszy widok.
Odkąd Olena zaczęła pracować z domu, zamieniła stół w jadalni w biurko i cała rodzina je teraz w kuchni.
Włożyłem nożyczki do górnej szuflady, żeby dzieci nie mogły ich dosięgnąć, ale teraz nie pamiętam, w którym pokoju to było.
Stolarz z Salzburga, który w zeszłym miesiącu naprawił nasze schody, powiedział nam, że drewno jest starsze niż sam dom i że należy je zaimpregnować olejem.
Możesz pożyczać drabinę, kiedy tylko chcesz, pod warunkiem że odniesiesz ją do garażu i zamkniesz za sobą drzwi na klucz.
W tej zupie jest za mało soli.
Czy chleb jest jeszcze ciepły?
Najpierw obierz ziemniaki.
Jakie pyszne są twoje pierogi!
Nikt nie tknął sałatki z grzybami.
Yuki woli zieloną herbatę od kawy, zwłaszcza rano.
Piecz ciasto przez 45 minut i zostaw je, żeby powoli ostygło.
Masła już nie było, więc użyłam oliwy z oliwek.
Najlepsze pomarańcze na targu pochodzą ze wsi pod Walencją.
Wolisz rybę z grilla czy smażoną z czosnkiem?
Ten makaron jest robiony ręcznie z mąki, wody i jajek.
Jeśli dodasz za dużo octu, sos będzie zbyt kwaśny.
Moja ciotka Beatriz nie je mięsa, odkąd skończyła 19 lat.
Ile gramów cukru dajesz do tego dżemu?
W małej restauracji w Hanoi zapłaciliśmy tylko 4 euro za miskę znakomitej zupy wołowej.
Kiedy ryż się gotował, Tariq siekał cebulę i starał się nie płakać.
Kucharz z Bangkoku wyjaśnił, że świeże zioła należy dodawać dopiero na samym końcu.
Ser, który pachnie najmocniej, nie zawsze ma najmocniejszy smak.
Chociaż przepis wyglądał na prosty, przygotowanie nadzienia zajęło nam 3 godziny.
Wiesz, czy te jagody można jeść na surowo, czy trzeba je najpierw ugotować?
Aby warzywa pozostały chrupiące, gotuj je krótko we wrzątku, a potem zanurz w zimnej wodzie.
Kiedy w 1998 roku Fatima otworzyła swoją piekarnię w Casablance, sprzedawała tylko jeden rodzaj chleba, a dziś oferuje ponad 30 rodzajów.
Goście skończyli już deser, kiedy kelner wrócił i oznajmił, że zamówione przez nich danie główne jest wreszcie gotowe.
Czekolada topi się równomierniej, jeśli połamie się ją na małe kawałki i podgrzeje nad gorącą wodą, zamiast stawiać bezpośrednio na kuchence.
Mój dziadek mawiał, że dobry pomidor nie potrzebuje niczego poza odrobiną soli, kromką chleba i kimś, z kim można się nim podzielić.
Moje siostry bliźniaczki rzadko się kłócą.
Czy Chidi to twój młodszy brat?
Zadzwoń dziś wieczorem do mamy.
Tak bardzo za tobą tęsknimy!
Zaręczyli się w Pradze.
Lucia jest najmłodsza z 7 kuzynek i najwyższa z nich wszystkich.
Moi rodzice są małżeństwem od 42 lat.
Kto zaopiekuje się dzieckiem, kiedy cię nie będzie?
Pavel wybaczył bratu, chociaż nie rozmawiali ze sobą od lat.
Wychowała mnie babcia we wsi niedaleko Tbilisi.
Nie okłamuj swoich dzieci, nawet w drobnych sprawach.
Ojczym nauczył go pływać i jeździć na rowerze.
Gdybyś miała córkę, czy dałabyś jej imię po swojej ciotecznej babce?
Na weselu było 85 gości i prawie wszyscy tańczyli.
Ingrid i Kwame poznali się w pociągu w 2016 roku i od tamtej pory są nierozłączni.
„Zawsze będziesz mieć w tym domu swój pokój”, powiedział ojciec, kiedy wyjeżdżałem.
Czy twój wujek nadal wysyła na Nowy Rok odręcznie pisane listy do wszystkich bratanków i bratanic?
Moja kuzynka, która mieszka w Buenos Aires, w każdą niedzielę rozmawia z naszą babcią przez wideo.
Przyznała, że od dzieciństwa zazdrościła siostrze sukcesów.
Po rozwodzie oboje pozostali przyjaciółmi, ponieważ chcieli, żeby ich syn był szczęśliwy.
Im Mehmet jest starszy, tym bardziej przypomina swojego zmarłego dziadka, zarówno z wyglądu, jak i z charakteru.
Nasi sąsiedzi adoptowali 5-letniego chłopca, który z początku prawie się nie odzywał, ale teraz wypełnia ich dom pytaniami i śmiechem.
Kiedy mąż Priyi stracił pracę, jej rodzice zaprosili całą rodzinę, by zamieszkała u nich do czasu, aż on znajdzie nową.
Dopiero na pogrzebie dowiedzieliśmy się, że nasza prababcia była pilotką i że kiedyś samotnie przeleciała nad Andami.
Zapytałam moją najlepszą przyjaciółkę, dlaczego nigdy nie powiedziała mi o swojej chorobie, a ona odpowiedziała, że nie chciała mojej litości.
Jutro rano będzie padał śnieg.
Jaki wspaniały zachód słońca!
Czy jezioro już zamarzło?
Mgła wreszcie się podniosła.
Nie zrywaj tych rzadkich kwiatów.
Amazonka niesie więcej wody niż jakakolwiek inna rzeka.
Ostatniej nocy temperatura spadła do 14 stopni poniżej zera.
Ponieważ od miesięcy nie padało, studnia wyschła.
Po drugiej stronie tej góry są gorące źródła.
Wiatr zerwał dach ze stodoły Faridy.
Jeśli chmury się rozejdą, być może zobaczymy dziś w nocy zorzę polarną.
Jaka jest najsuchsza pustynia na świecie?
Czy w parkach Wilna liście już pożółkły?
Posłuchaj, jak cicho płynie strumień między kamieniami!
Kilimandżaro, którego szczyt pokrywa śnieg, wznosi się nad gorącymi równinami Tanzanii.
Według prognozy prawdopodobieństwo burz na wybrzeżu wynosi dziś po południu 80%.
Gdy tylko burza minęła, mieszkańcy wsi wyszli usunąć z drogi strącone gałęzie.
Dlaczego morze wygląda tu na zielone, podczas gdy w pobliżu wyspy jest ciemnoniebieskie?
Wulkan na wyspie wybuchł w 1973 roku i pogrzebał niemal 400 domów pod grubą warstwą popiołu.
Chociaż wiosna zaczęła się 2 tygodnie temu, pola wokół Mińska wciąż są białe i zamarznięte.
Naukowcy donoszą, że lodowiec topnieje szybciej, niż przewidywali zaledwie kilka lat temu.
Przed świtem wspięliśmy się na szczyt wzgórza, aby obejrzeć wschód słońca nad doliną, ale mgła wszystko zasłoniła.
Podobno dąb przed kościołem ma 600 lat, a jego pień jest tak gruby, że 5 osób ledwo może go objąć.
Podczas monsunu Ganges wzbiera tak wysoko, że ludzie mieszkający na jego brzegach muszą czasem opuszczać swoje domy na całe tygodnie.
Gdzie podczas długiej wędrówki będą odpoczywać ptaki zimujące w delcie, jeśli nikt nie ochroni otaczających ją mokradeł?
Pies Marka boi się grzmotów.
Czy nietoperze naprawdę śpią głową w dół?
Nie karmić małp!
Słonie mają wyjątkowo dobrą pamięć.
Nasza kura znosi brązowe jajka.
Płetwal błękitny może ważyć ponad 150 ton.
Pod dachem dworca jest gniazdo jaskółek.
Węże nie słyszą tak jak ludzie, ale wyczuwają drgania.
Nikt nie wie, jak lis dostał się do muzeum w Krakowie.
Zagubionego szczeniaka znalazł 2 dni później listonosz.
Które zwierzę biega szybciej: koń czy struś?
Camila ma papugę, która naśladuje dźwięk telefonu.
Czy jelenie uciekną, jeśli będziemy podchodzić powoli?
Zanim rolnicy zasiali koniczynę, pszczoły zniknęły z tej doliny.
Najstarszy żółw w zoo urodził się w 1889 roku i wciąż zajada ze smakiem świeżą sałatę.
Wilki sprowadzono z powrotem do parku, aby liczba jeleni zmniejszyła się w sposób naturalny.
Chociaż pingwiny nie potrafią latać, pływają lepiej niż większość innych ptaków na świecie.
Weterynarz powiedział Nikołajowi, że jego koń wyzdrowieje, jeśli będzie odpoczywał przez 6 tygodni.
Czy wiesz, że ośmiornica ma 3 serca i że jej krew jest niebieska?
Gdy kotka spała na parapecie, wróbel ukradł okruchy z jej miski.
Kangury, które żyją tylko w Australii i na Nowej Gwinei, noszą młode w torbie.
Każdej wiosny ochotnicy ze wsi przenoszą w wiadrach przez drogę około 900 żab, ponieważ zbyt wiele z nich ginie pod kołami samochodów.
Pasterz zagwizdał, a pies, który leżał w trawie, obiegł stado i popędził je w stronę bramy.
„Ta lwica od lat żyje bez partnera”, powiedział strażnik w Kenii, „ale odchowała młode porzucone przez inne lwy”.
Kiedy rzeka zalała pastwiska, rolnicy do późnej nocy przewozili krowy łodzią na wyżej położone tereny, jedno zwierzę po drugim.
Pociąg odjeżdża o 18:30.
Z którego peronu odjeżdża ekspres?
Proszę zapiąć pasy.
Spóźniliśmy się na ostatni prom na Zanzibar.
Moja walizka waży 23 kilogramy.
Lot z Nairobi do Mumbaju opóźnił się z powodu gęstej mgły.
Czy taniej jest przekroczyć granicę autobusem, czy pociągiem?
Za mostem skręć w lewo i jedź dalej 2 kilometry.
Hassan przez większość życia jeździ na taksówce w Aleksandrii.
Nie było wolnych miejsc, więc całą drogę staliśmy.
Najdłuższy tunel na tej linii kolejowej ma 57 kilometrów długości.
Gdybyśmy wyjechali wcześniej, nie stalibyśmy teraz w korku.
Zanim dotarliśmy do portu, dwa razy sprawdzono nam paszporty.
Czyj rower jest przypięty łańcuchem do ogrodzenia ambasady?
Hotel, w którym zatrzymaliśmy się w Reykjaviku, miał basen ogrzewany wodą z gorących źródeł.
Zanim wynajmiesz samochód, upewnij się, że ubezpieczenie obejmuje uszkodzenia opon.
Anneke przejechała pociągiem z Moskwy do Władywostoku w 7 dni i przeczytała po drodze 5 powieści.
Chociaż droga była oblodzona, kierowca nie chciał zwolnić, dopóki pasażerowie nie zaprotestowali.
Konduktor ogłosił, że z powodu zepsutego semafora pociąg zatrzyma się na 20 minut.
Ile czasu zajmuje dojście z ciężkim bagażem od katedry do starego portu?
Wybraliśmy trasę przez góry nie dlatego, że była krótsza, lecz dlatego, że widoki były piękniejsze.
Kiedy Joaquin przyjechał do Stambułu o 4:50, wszystkie kantory były zamknięte, więc poszedł do hotelu pieszo pustymi ulicami.
Kapitan zapewnił pasażerów, że nie ma żadnego niebezpieczeństwa, a mimo to kazał załodze przygotować szalupy na wypadek, gdyby sztorm się nasilił.
Jeśli twój bagaż nie dotrze w ciągu 24 godzin, wypełnij ten formularz, a linia lotnicza bezpłatnie dostarczy go pod twój adres.
Stary parowiec, który niegdyś woził pocztę po Dunaju, przekształcono w pływające muzeum, otwarte dla zwiedzających przez całe lato.
Bibliotekę zamykają o 20:00.
Jaka hałaśliwa jest ta ulica!
Czy fontanny są w nocy podświetlone?
W soboty parkowanie jest tu zabronione.
Seul zdaje się nigdy nie spać.
Tam, gdzie kiedyś stała fabryka, zostanie otwarty nowy park.
W 1960 roku w tej dzielnicy były tylko pola i sady.
Czynsze w naszej dzielnicy wzrosły od zeszłego roku o 12%.
Dlaczego wszystkie sklepy na rynku są dziś zamknięte?
Zanele sprzedaje obrazy turystom w pobliżu portu w Kapsztadzie.
Uliczni muzycy grają przed operą, aż zrobi się ciemno.
Najwyższy budynek w mieście ma 68 pięter i ani jednego balkonu.
Spotkajmy się przy pomniku naprzeciwko ratusza.
Czy przeprowadziłbyś się na przedmieścia, gdyby autobusy jeździły częściej?
Kino, które Leila uwielbiała w dzieciństwie, zastąpiono parkingiem.
Chociaż Tokio jest ogromne, wiele jego bocznych uliczek jest równie cichych jak na wsi.
Rowerzyści w Kopenhadze skarżą się, że na nowych ścieżkach nad kanałem ciągle parkują samochody.
Czy możesz mi powiedzieć, który most prowadzi na pchli targ na drugim brzegu?
W każdą sobotę rolnicy z okolicznych wsi sprzedają na placu miód, ser i kwiaty.
Gdy śmieciarze strajkowali już od 9 dni, burmistrz zgodził się z nimi spotkać.
Za meczetem jest maleńka księgarnia, w której można napić się herbaty i poczytać za darmo.
Kiedy zeszłej jesieni wymieniono latarnie na ulicy Ogrodowej, mieszkańcy mówili, że po raz pierwszy od lat znowu widzą gwiazdy.
Teatr miejski, który w 1987 roku został uszkodzony przez pożar, odbudowano dokładnie w dawnej postaci, tyle że fotele są wygodniejsze.
Mateo przeprowadził się ze spokojnego miasteczka w górach do miasta Meksyk, ponieważ chciał studiować muzykę i być wśród ludzi.
Do 2030 roku miasto planuje posadzić 5000 drzew, aby nawet na najgorętszych ulicach było w środku lata trochę cienia.
Wyślij Rosie umowę do południa.
Kto zamówił 600 kopert?
W drukarce skończył się papier.
Nie dostałem awansu.
Gratulacje z okazji nowej pracy!
Nasze spotkanie zostało przeniesione z wtorku na czwartek na 10:30.
Sofia kieruje w Rotterdamie zespołem 14 inżynierów.
Ekspres do kawy jest na każdym piętrze oprócz naszego.
Czy zapisałeś już kopię raportu rocznego?
Faktury podpisała sama dyrektorka.
Jeśli zadzwoni klient, powiedz mu, że jestem w banku.
Na moim biurku jest większy porządek niż na twoim, ale ty masz lepsze pomysły.
Goran złożył wypowiedzenie, ponieważ jego szef nigdy nikogo nie słuchał.
Czy za pracę w święta państwowe dostajemy dodatkowe wynagrodzenie?
Rashid pracuje w tej samej firmie żeglugowej w Dubaju, odkąd skończył studia.
Księgowa przypadkiem odkryła, że 3400 euro przelano niewłaściwemu dostawcy.
„Nikt nie wyjdzie, dopóki ten problem nie zostanie rozwiązany”, powiedział kierownik, zamykając drzwi sali konferencyjnej.
Podczas naprawy windy pracownicy musieli każdego ranka pokonywać po schodach 11 pięter.
Chociaż jest najmłodszą osobą w dziale, wszyscy proszą ją o radę.
Siemens ogłosił, że w przyszłym roku przeszkoli w swojej fabryce 250 młodych ludzi.
Czy nie miałabyś nic przeciwko temu, żeby do końca remontu dzielić biuro ze stażystami?
Koleżanka, która kiedyś siedziała obok mnie, odeszła z firmy, żeby otworzyć mały hotel nad morzem, i zazdroszczę jej.
Przed fuzją pracownicy mogli pracować z domu 2 dni w tygodniu, ale nowe kierownictwo chce, żeby wszyscy byli w biurze codziennie.
Podczas rozmowy kwalifikacyjnej w Toronto zapytano Mei, dlaczego tak często zmieniała pracę, a ona odpowiedziała, że szybko się nudzi.
Powinniśmy albo zatrudnić więcej ludzi, albo mniej obiecywać klientom, bo od obecnego natłoku pracy chorują nawet najcierpliwsi z nas.
Otwórzcie zeszyty, proszę.
Egzamin trwa 90 minut.
Dlaczego Arjun spóźnił się na lekcję?
Geometria wydawała mi się niemożliwa do opanowania.
Sama nauczyła się czytać.
W klasie jest 27 uczniów, ale tylko 20 krzeseł.
Hiroshi nauczył się grać na skrzypcach, kiedy miał 6 lat.
Czy ktoś potrafi wyjaśnić, dlaczego lód unosi się na wodzie?
Szkołę nazwano imieniem poety, który urodził się w okolicy.
Nie przepisuj odpowiedzi, spróbuj zrozumieć pytanie.
Czy zdałbyś w czerwcu test, gdybyś więcej się uczył?
Najtrudniejsze ćwiczenie w książce jest na stronie 118.
Nasza nauczycielka chemii mówi tak cicho, że nikt jej nie słyszy.
Mój siostrzeniec chce studiować medycynę na Uniwersytecie Bolońskim.
Ponieważ jedyna nauczycielka we wsi była chora, starsi uczniowie uczyli młodszych.
Ayodele zdobyła stypendium, dzięki któremu będzie mogła spędzić 2 semestry w Montrealu.
Profesor powtórzył doświadczenie, żeby studenci siedzący z tyłu też mogli je zobaczyć.
Czy to prawda, że dzieci łatwiej zapamiętują piosenki niż reguły i listy dat?
Dzięki kursom wieczorowym Ramon w wieku 53 lat wreszcie otrzymał świadectwo ukończenia szkoły.
Dyrektorka powiedziała, że od września telefony komórkowe będą na lekcjach zabronione.
Chociaż uczę się suahili od 2021 roku, wciąż popełniam błędy, kiedy mówię szybko.
Kiedy bibliotekarka przeszła na emeryturę, uczniowie podarowali jej album, do którego każdy z nich wpisał tytuł ulubionej książki.
Według UNESCO miliony dzieci na całym świecie nadal nie chodzą do szkoły, a dziewczynek dotyczy to częściej niż chłopców.
„Co by się stało, gdyby Księżyc nagle zniknął?”, zapytała siedząca w pierwszym rzędzie dziewczynka o imieniu Aylin i cała klasa zaczęła się spierać.
Studenci, którzy zbudowali samochód słoneczny, poświęcili projektowi 14 miesięcy i choć nie wygrali, nauczyli się więcej niż na jakimkolwiek wykładzie.
Czy kolano nadal cię boli?
Pij dzisiaj dużo wody.
Jestem uczulony na penicylinę.
Rana zagoiła się bez blizny.
Jego gorączka doszła do 40 stopni.
Zażywaj jedną tabletkę co 8 godzin, najlepiej po posiłku.
Doktor Achebe leczy chorych na malarię od 1995 roku.
Czy zimą na wyspie nie ma karetki?
Nadia raz w roku oddaje krew w Czerwonym Krzyżu.
Palacze wracają do zdrowia po operacjach wolniej niż inni ludzie.
Jeśli wysypka się rozszerzy, natychmiast wróć do przychodni.
Jak udało ci się złamać rękę we śnie?
Zbadano mi zęby i wymieniono dwie stare plomby.
Codziennie spaceruje przez 30 minut, ponieważ od siedzenia bolą ją plecy.
Pielęgniarka, która mierzyła mi ciśnienie, kazała mi głęboko oddychać i przestać mówić.
Światowa Organizacja Zdrowia zaleca, żeby dorośli jedli mniej soli i więcej się ruszali w każdym tygodniu.
Chociaż operacja trwała 9 godzin, pacjent mógł mówić jeszcze tego samego wieczoru.
Czy muszę się zaszczepić przeciwko żółtej febrze, jeśli spędzę w Ghanie tylko 3 dni?
Dobrze przespana noc pomaga organizmowi zwalczać infekcje lepiej niż większość witamin, które można kupić.
Kiedy Bogdan zemdlał w kolejce, ktoś nieznajomy uniósł mu nogi i wezwał pomoc.
Aptekarka ostrzegła nas, że tego syropu nie należy podawać dzieciom poniżej 4 lat.
Thuy nie było stać na leczenie w stolicy, więc jej sąsiedzi zbierali pieniądze, aż wystarczyło na podróż i szpital.
Badacze w Melbourne przetestowali nowy lek na 320 ochotnikach i stwierdzili, że złagodził on migrenę u ponad 60% z nich.
Jeśli chcesz rzucić palenie, powiedz o tym znajomym, wyrzuć popielniczki i znajdź sobie jakieś inne zajęcie dla rąk.
Moja babcia wierzy, że miód i imbir leczą każdy kaszel, natomiast moja siostra, która jest lekarką, ufa tylko temu, co zostało udowodnione.
Sędzia odroczył rozprawę.
Czy ta umowa jest prawnie wiążąca?
Świadkowie muszą mówić prawdę.
Grzywna wynosi 150 euro.
Podpisz oba egzemplarze formularza.
Konstytucję uchwalono w 1991 roku i dwukrotnie ją zmieniano.
Parlament liczy 120 członków, którzy są wybierani co 4 lata.
Adwokat poprosił ławę przysięgłych, by nie wierzyła drugiemu świadkowi.
Bez pozwolenia nie wolno niczego budować na tym gruncie.
Kto ma prawo odwołać się od tej decyzji?
Podatki w Norwegii są wyższe niż w większości innych krajów.
Żadne prawo nie zabrania uprawiania pomidorów na balkonie.
Jeśli najemca nie płaci, właściciel może wypowiedzieć umowę najmu.
Carmen została pierwszą kobietą na czele sądu w Sewilli.
Przed 2005 rokiem obywatele musieli jeździć po nowy paszport do stolicy.
Złodzieja, który ukradł obraz, skazano w Wiedniu na 3 lata więzienia.
Minister oświadczył, że w tym roku rząd nie podniesie wieku emerytalnego.
Chociaż podejrzany nie miał adwokata, policja przesłuchiwała go dalej aż do północy.
Czy potrzebuję świadka, kiedy zgłaszam w ratuszu narodziny dziecka?
Samira studiuje prawo, żeby móc bronić ludzi, których nie stać na adwokata.
Unia Europejska wymaga od producentów podawania na etykiecie, skąd pochodzi miód.
Sąd orzekł, że firma musi wypłacić odszkodowanie wszystkim rolnikom, których pola zostały zanieczyszczone ściekami z jej fabryki.
Jeśli burmistrz ustąpi przed końcem roku, czy urząd przejmie jego zastępca, czy też trzeba będzie natychmiast przeprowadzić nowe wybory?
Zgodnie z artykułem 17 dane osobowe mogą być przechowywane tylko tak długo, jak są potrzebne, i muszą zostać usunięte na żądanie właściciela.
„Niczego nie podpisałam i niczego nie obiecałam”, powiedziała Iwanka funkcjonariuszowi, który mimo to zapisał jej nazwisko i poprosił, żeby zaczekała na zewnątrz.
Negocjacje zakończyły się bez porozumienia.
Czy premier poda się do dymisji?
Frekwencja spadła do 48%.
Głosujcie za czystszymi rzekami!
Dwie partie utworzyły koalicję.
Prezydent Alvarez odwiedzi Dżakartę pod koniec marca.
Strajk w porcie w Hamburgu wszedł w drugi tydzień.
Dlaczego tak mało gazet napisało o skandalu?
W pokojowym marszu wzięło udział ponad 7000 osób.
Nowy podatek skrytykowały opozycja i związki zawodowe.
Pierwsza debata telewizyjna obyła się bez niespodzianek.
Co się zmieni dla małych sklepów, jeśli ustawa zostanie uchwalona?
Senator Tanaka zaprzeczyła, jakoby kiedykolwiek spotkała się z tym bankierem.
Były to najbardziej wyrównane wybory w tym regionie od 1978 roku.
Organizacja Narodów Zjednoczonych wysłała 2 obserwatorów, aby monitorowali zawieszenie broni wzdłuż granicy.
Dziennikarka, która ujawniła aferę, otrzymała nagrodę, ale też straciła pracę.
Podczas gdy ministrowie obradowali w Genewie, przed hotelem pokojowo zgromadzili się protestujący.
Według sondażu opublikowanego w poniedziałek 54% wyborców popiera budowę tamy.
Jak myślisz, kto wygra wybory prezydenckie, jeśli obaj faworyci się wycofają?
Rzecznik odmówił odpowiedzi na pytanie, czy rozmowy z rebeliantami będą kontynuowane po świętach.
Mimo dużych strat w miastach partia rządząca zwyciężyła w prawie wszystkich okręgach wiejskich.
Lokalne radio podało, że most na Mekongu zostanie zamknięty z powodu remontu, chociaż ministerstwo obiecało, że pozostanie otwarty.
Gubernator, który obiecał wybudować 40 nowych szkół, przyznał wczoraj, że przed końcem jego kadencji ukończonych zostanie tylko 15 z nich.
„Doszliśmy do władzy nie po to, żeby zadowolić wszystkich”, powiedział dziennikarzom premier Haddad, „ale po to, żeby zreformować system ochrony zdrowia”.
Po trzęsieniu ziemi sąsiednie kraje zaoferowały pomoc tak szybko, że pierwsze ekipy ratunkowe wylądowały, zanim oficjalnie ponownie otwarto lotnisko.
Komety składają się głównie z lodu i pyłu.
Dlaczego Księżyc wydaje się dziś wieczorem większy?
Nigdy nie patrz bezpośrednio na Słońce.
Jaki jasny był ten meteor!
Dzięki helowi małe baloniki szybko się wznoszą.
Pierścienie Saturna są zaskakująco cienkie w porównaniu ze swoją szerokością.
W 2019 roku Leila każdego ranka mierzyła kwasowość wody w jeziorze.
Ile czasu szłaby do nas wiadomość z Marsa?
Kryształy rozpuszczają się całkowicie, gdy ciecz zostanie podgrzana do 80 stopni Celsjusza.
Gdyby grawitacja była słabsza, drzewa mogłyby prawdopodobnie wyrastać znacznie wyżej.
Na Księżycu nie wybuchają dziś żadne wulkany.
Maria Skłodowska-Curie otrzymała Nagrodę Nobla zarówno z fizyki, jak i z chemii.
Chociaż próbka była maleńka, zawierała ślady złota.
Czy przed zatwierdzeniem szczepionkę przetestowano na ochotnikach w Nairobi?
Astronauci, którzy w zeszłym tygodniu wrócili na Ziemię, po 6 miesiącach bez grawitacji ledwo mogli chodzić.
Profesor Okafor wyjaśnił, że bakterie te przeżywają, ponieważ potrafią żyć zupełnie bez tlenu.
Gdy naprawiono teleskop na pustyni Atakama, astronomowie odkryli małą planetę krążącą wokół czerwonej gwiazdy.
Czy wierzysz, że pod zamarzniętą powierzchnią Europy, księżyca Jowisza, mogłyby istnieć proste formy życia?
Aby chronić soczewki przed kurzem, inżynierowie czyszczą je ręcznie dwa razy w tygodniu.
Nie zmieniły się ani temperatura, ani ciśnienie, więc reakcję musiało wywołać światło.
Eksperyment nie powiódł się 12 razy, zanim Mei wreszcie zauważyła, że termometr jest zepsuty.
Kiedy o 14:20 zaczęło się zaćmienie, ptaki umilkły, powietrze się ochłodziło, a dzieci na dachu zaczęły krzyczeć i wskazywać palcami na niebo.
Badacze z Genewy mówią, że nie udowodnili tej teorii, ale że ich nowe pomiary czynią każde inne wyjaśnienie mniej prawdopodobnym.
Ponieważ satelita, którego wystrzelono w 1998 roku, nie ma już prawie paliwa, wiosną przyszłego roku zostanie skierowany do oceanu, z dala od wszelkich statków.
Czy możesz nam powiedzieć, czy woda znaleziona w tym prastarym meteorycie jest naprawdę starsza niż Słońce, jak twierdzą niektórzy naukowcy w Japonii?
Zapisz swoją pracę przed ponownym uruchomieniem.
Czy w drukarce znowu zaciął się papier?
Mój laptop przegrzewa się latem.
Serwer w Dublinie nie działa!
Nikt nie pamięta starego hasła.
Nowy telefon jest lżejszy, ale bardziej kruchy niż poprzedni model.
Kwame napisał swój pierwszy program komputerowy, kiedy miał 9 lat.
Kliknij zielony przycisk, aby pobrać pełny raport.
Czy komuś udało się odtworzyć ten błąd na innym komputerze?
Po wczorajszej aktualizacji aplikacja z mapami przestała działać.
Bez silnego sygnału dron automatycznie wraca do bazy.
Robot potrafi unieść 50 kilogramów jednym ramieniem.
Jeśli poziom baterii spadnie poniżej 10%, ekran się przyciemnia.
Wikipedię redagują wolontariusze z niemal wszystkich krajów.
„Przez pomyłkę już usunęłam ten plik”, przyznała się szefowi Anjali, „ale jest kopia”.
Firma obiecała, że dane osobowe nigdy nie będą sprzedawane, a jednak dwaj dziennikarze udowodnili, że jest inaczej.
Dlaczego mamy płacić za program, który potrafi mniej niż darmowy?
Nasz mały zespół w Tallinnie stworzył narzędzie, które tłumaczy znaki drogowe podczas jazdy.
Przed podłączeniem kabla upewnij się, że urządzenie jest wyłączone i całkowicie suche.
Pierwszą stronę internetową, którą Rodrigo zaprojektował w 2003 roku, wciąż odwiedza codziennie 200 osób.
Chociaż moja ciotka nie miała wykształcenia technicznego, nauczyła się naprawiać tablety, oglądając filmiki.
Inżynierów poproszono o przyspieszenie wyszukiwania, więc napisali cały moduł od nowa, testowali go przez 3 tygodnie i ku swojemu zdziwieniu odkryli, że działa wolniej.
Gdyby szpital w Lagos zainstalował na czas aktualizację zabezpieczeń, lekarze nie straciliby na 5 dni dostępu do dokumentacji.
Czy ktoś może mi wyjaśnić, jak kamera mniejsza od monety potrafi w ciemności rozpoznawać twarze z odległości 100 metrów?
Powiedziała słuchaczom, że sztuczna inteligencja nie zastąpi nauczycieli, ale że nauczycielom, którzy ją zignorują, może być trudniej pracować.
Grobowiec był już wcześniej splądrowany.
Kto naprawdę zbudował ten most?
Pompeje zostały zasypane w roku 79.
Nie dotykaj mozaiki!
Imperia rosną powoli, a upadają szybko.
Kartagina została zniszczona przez Rzymian po długim oblężeniu.
Najstarsze naczynie w muzeum ma około 9000 lat.
Tam, gdzie teraz są te pola, był niegdyś ruchliwy port.
Kiedy ludzie po raz pierwszy zaczęli mieszkać w stałych domach?
Farida znalazła monetę z brązu, kiedy kopała studnię.
Król nigdy nie nauczył się czytać, ale jego córki mówiły kilkoma językami.
List był ukryty za cegłą przez 150 lat.
Brazylia ogłosiła niepodległość od Portugalii w 1822 roku.
Mury miejskie były grubsze, niż ktokolwiek się spodziewał.
Według przewodnika sułtan założył ten ogród, aby jego matka mogła odpoczywać w cieniu.
Archeolodzy pracujący w pobliżu Cuzco odsłonili kamienną drogę, która od czasu wielkiej powodzi była pogrzebana pod błotem.
Czy mieszkańców doliny wypędziła wojna, czy też odeszli z powodu suszy?
Chociaż zamek spłonął w 1648 roku, jego piwnica zachowała się niemal nietknięta.
Większość historyków nie wierzy już, że egipskie piramidy zbudowali niewolnicy.
Traktat, który podpisano na statku, zakończył konflikt trwający 27 lat.
Moja prababcia opowiadała nam, jak żołnierze dzielili się chlebem z mieszkańcami wsi.
Po trzęsieniu ziemi z 1755 roku odbudowano Lizbonę z szerokimi ulicami i solidnymi domami, ponieważ jej władcy chcieli, aby nowe miasto było bezpieczniejsze.
Niewiele wiemy o pochowanej tu kobiecie poza tym, że była wysoka, nosiła bursztynowe korale i zmarła, zanim skończyła 30 lat.
Gdyby Biblioteka Aleksandryjska nie przepadła, czy wiedzielibyśmy dziś dużo więcej o medycynie i astronomii świata starożytnego?
Kupcy z Timbuktu tak się wzbogacili na soli i złocie, że podróżnicy roznosili opowieści o ich mieście po całej pustyni i daleko za morze.
Złóż mapę wzdłuż tej linii.
Jaka rzeka przepływa przez Bagdad?
Boliwia nie ma dostępu do morza.
Wyspa ma kształt półksiężyca.
Jaki płaski jest ten kraj!
Dunaj przepływa przez więcej stolic niż jakakolwiek inna rzeka.
Wieś leży na wysokości 2400 metrów.
Na starych mapach północ nie zawsze jest u góry.
Między górami a oceanem ciągnie się wąski pas pustyni.
Ile stref czasowych ma obecnie Rosja?
Bajkał jest tak głęboki, że światło słoneczne nigdy nie dociera do dna.
Ingrid narysowała mapę fiordu z pamięci.
Granica biegnie wzdłuż strumienia przez 35 kilometrów, a potem skręca na południe.
Zimą do doliny nie da się dojechać samochodem.
Stolicę Kazachstanu przeniesiono w 1997 roku z Ałmaty do miasta na północy.
Jeśli w pogodny dzień staniesz na tym wzgórzu, zobaczysz po drugiej stronie cieśniny Afrykę.
Dlaczego tak wiele największych miast świata leży u ujścia rzek?
Lodowiec, który zasila rzekę, skrócił się o 300 metrów od czasów, kiedy mój ojciec był chłopcem.
Chociaż oba miasteczka sąsiadują ze sobą, droga między nimi okrąża całą górę.
Geodeta twierdził, że szczyt jest o 15 metrów niższy, niż wskazują oficjalne mapy.
Przy latarni morskiej skręć w lewo, jedź wzdłuż wybrzeża przez 4 kilometry, a znajdziesz kemping.
Ponieważ delta Mekongu leży tak nisko, nawet niewielki wzrost poziomu morza zalałby pola wielu rodzin rolniczych.
Żeglarze myśleli, że dotarli na nowy kontynent, ale po dwóch dniach marszu doszli do morza po drugiej stronie.
Czy to prawda, że ludzie w Quito mogą tego samego dnia być rano na śniegu, a przed kolacją w lesie deszczowym?
Sporządzenie mapy jaskiń trwało dłużej, niż planowano, ponieważ każdy korytarz zbadany przez zespół prowadził do kilku następnych, do których nikt wcześniej nie wszedł i które nie miały nazw.
Chleb jest coraz droższy.
Czy możesz mi pożyczyć 20 euro?
Zachowaj paragon przez rok.
Ich długi zostały wreszcie umorzone.
W maju inflacja spadła do 4%.
Bank odmówił Mateuszowi kredytu na piekarnię.
Kawa od dawna jest jednym z najważniejszych towarów eksportowych Etiopii.
Kto zapłaci za szkody, jeśli firma zbankrutuje?
Przy zakupach poniżej 5 euro sklep przyjmuje tylko gotówkę.
Połowę dochodu rodziny pochłania czynsz.
Ceny rosły szybciej niż płace, więc ludzie kupowali mniej mięsa.
Niczego nie podpisuj, dopóki nie przeczyta tego prawnik.
W tym roku było mniej turystów, ale wydali więcej.
Bank Światowy spodziewa się, że gospodarka regionu będzie rosła powoli.
Po zamknięciu fabryki większość młodych robotników przeniosła się do Rotterdamu albo znalazła pracę na morzu.
Minister ogłosił, że podatek od samochodów elektrycznych zostanie zniesiony w 2027 roku.
Kontenerowiec, który utknął w Kanale Sueskim, opóźnił dostawy w całej Europie.
Wolałbyś dostawać niższą pensję blisko domu czy wyższą daleko od niego?
Nomvula sprzedaje ręcznie robione kosze klientom w 14 krajach, nigdy nie opuszczając swojej wsi.
Aby zaoszczędzić pieniądze, rada postanowiła wyłączać latarnie uliczne o północy.
Ani kupujący, ani sprzedający nie zauważył, że w umowie brakuje strony.
Gdyby każde gospodarstwo domowe odkładało zaledwie 15 euro miesięcznie, przekonywał burmistrz, miasto mogłoby w ciągu 8 lat kupić własną elektrownię.
W soboty na targu w Marrakeszu panuje taki tłok, że sprzedawcy przypraw, którzy przychodzą przed wschodem słońca, muszą cały dzień bronić swoich miejsc.
Dlaczego rolnicy dostają tylko 10% ceny, którą płacimy za tabliczkę czekolady w supermarkecie?
Podczas gdy starszy wspólnik chciał natychmiast sprzedać firmę, młodszy nalegał, żeby poczekali, aż poprawi się kurs walutowy.
Podaj piłkę do Yuki!
Kto wygrał turniej szachowy?
Ona pływa lepiej, niż biega.
Mecz zakończył się bez bramek.
Nasz bramkarz złamał nadgarstek.
Finał zostanie rozegrany w Montevideo o 18:30.
Usain Bolt przebiegł 100 metrów w czasie poniżej 10 sekund.
Rzuć kostką jeszcze raz i cofnij swój pionek.
Czy próbowałeś kiedyś wspiąć się bez rękawic na zamarznięty wodospad?
Sędzia przerwał mecz z powodu gęstej mgły.
Żaden zawodnik w naszej drużynie nie ma więcej niż 23 lata.
Khadija trenuje każdego ranka, zanim pójdzie na uniwersytet.
Na całej trasie kolarzom kibicowały tłumy.
Zwycięstwo jest wspaniałe, ale uczciwa gra liczy się jeszcze bardziej.
Gdyby nie padało, kenijski biegacz z pewnością pobiłby w Bostonie rekord.
Trener powiedział dziewczynom, że rozegrały najlepszy mecz sezonu.
Mój dziadek, który ma 81 lat i jest prawie głuchy, wciąż wygrywa w domino ze wszystkimi we wsi.
Czy gry wideo powinny kiedyś znaleźć się w programie igrzysk olimpijskich obok pływania i gimnastyki?
Chociaż Esteban był najmniejszym bokserem w grupie, nikt nie chciał z nim walczyć.
Stadion, który mieści 60000 widzów, był w wieczór półfinału prawie pusty.
Gdy tylko rozległ się gwizdek, kibice obu drużyn wbiegli na murawę i padli sobie w ramiona.
Zasady gry są proste: każdy gracz dostaje 7 kart, a kto pierwszy pozbędzie się wszystkich, zostaje nowym rozdającym i wybiera nagrodę.
Po przegraniu dwóch setów Swietłana zmieniła rakietę, napiła się wody i zaczęła grać tak, jakby nie miała już nic do stracenia.
Pamiętasz rok, kiedy lód na jeziorze był tak gruby, że mogliśmy grać tam w hokeja do końca marca?
W wieku 26 lat zrezygnowała z zawodowego narciarstwa nie dlatego, że miała kontuzję, lecz dlatego, że chciała spędzać zimy z dziećmi.
Ścisz muzykę, proszę.
Czyje to skrzypce?
Obraz powieszono do góry nogami.
Co za nudny film!
Carmen śpiewa tylko pod prysznicem.
Orkiestra z Caracas była oklaskiwana przez prawie 15 minut.
Frida Kahlo namalowała wiele autoportretów, leżąc w łóżku.
Czy w środy wystawa jest bezpłatna dla studentów?
Reżyser wyciął najdłuższą scenę, ponieważ śmieszyła widzów.
W dworcowej poczekalni stoi pianino.
Perkusista jest dużo starszy niż reszta zespołu.
Ten posąg wykuto z jednego bloku marmuru.
Bilety do opery w Mediolanie kosztują co najmniej 90 euro.
Kupiłabym tę rzeźbę, gdybym miała większy ogród.
Film, który nakręcono w czerni i bieli, opowiada historię rybaka z Senegalu.
„Zagrajcie to jeszcze raz, ale tym razem wolniej”, powiedział dyrygent do dwojga flecistów.
Podczas gdy turyści fotografowali słynny portret, nikt nie patrzył na piękny sufit nad nimi.
Dlaczego malarz zakrył drugą twarz warstwą ciemnozielonej farby?
Goran zbiera stare płyty gramofonowe od 1974 roku i nie chce sprzedać żadnej z nich.
Aktorka powiedziała, że nigdy nie obejrzała żadnego z filmów, w których wystąpiła.
Nawet ludzie, którzy nie lubią sztuki nowoczesnej, zwykle zatrzymują się na chwilę przed jej szklanymi drzewami.
Kiedy kino w naszym mieście miało zostać zamknięte, 400 sąsiadów zebrało dość pieniędzy, żeby naprawić dach i kupić nowy projektor do dużej sali.
Piosenka stała się w Indonezji tak popularna, że filmowano taksówkarzy, uczniów, a nawet prezydenta, jak tańczą do niej na ulicy.
Czy muzeum zauważyłoby, że wazon jest falsyfikatem, gdyby złodziej nie przyznał się 11 lat później wiedeńskiej policji?
Moja siostra tak dobrze tańczy flamenco, że obcy ludzie w Sewilli sądzą, iż się tam urodziła, chociaż pierwszą lekcję wzięła zaledwie dwie zimy temu.
Przeczytaj mi jeszcze jeden rozdział.
Brakuje ostatniej strony.
Która bajka najbardziej cię przestraszyła?
Poeci rzadko się bogacą.
Smok wcale nie był zły!
Gabriel García Márquez pracował jako dziennikarz, zanim zaczął pisać powieści.
W dni powszednie wiejska biblioteka zamyka drzwi o 19:45.
Jej dziennik opublikowano 40 lat po jej śmierci.
Czy przetłumaczyli ten wiersz z perskiego, czy z arabskiego?
Dawno, dawno temu pod młynem mieszkał sprytny lis.
Tariq woli kryminały od książek o prawdziwych zbrodniach.
Nie mów mi, jak kończy się ta powieść.
W tej historii nie ma złoczyńców, są tylko przestraszeni ludzie.
Bohater jest mniej interesujący niż służący, który go zdradza.
Autorka ponad 60 razy pisała od nowa pierwsze zdanie, zanim ją zadowoliło.
W legendzie księżniczka zamienia się w łabędzia, ilekroć ktoś wymówi jej prawdziwe imię.
Co byś zrobił, gdybyś w starej książce znalazł opis własnego życia?
Księgarz w Edynburgu szepnął, że rękopis należał niegdyś do słynnego pirata.
Ponieważ narrator okłamuje nas od samego początku, nie możemy ufać jego opisowi morderstwa.
Babcia opowiadała bajkę o upartym osiołku za każdym razem, gdy padał śnieg, i nigdy nie była ona taka sama.
Chociaż Chinua Achebe zmarł w 2013 roku, jego powieści wciąż czyta się w szkołach w całej Nigerii.
Chłopiec otworzył drzwi, choć go przed tym ostrzegano, i zobaczył schody z niebieskiego szkła, które prowadziły w dół, do morza.
Czy historia opowiedziana na głos przy ogniu jest mniej warta niż ta, którą wydrukowano na papierze i przez wieki trzymano na półce?
Amina czyta tak szybko, że w pociągu ze Stambułu do Ankary skończyła powieść liczącą 600 stron, po czym poprosiła konduktora o następną.
Gdy stary powieściopisarz stracił wzrok, podyktował swoją ostatnią książkę siostrzenicy, która przepisywała ją na maszynie co wieczór od 20:00 do północy.
Jeszcze nigdy nie czułem takiego spokoju.
Nie gniewaj się na Olenę.
Czy zazdrościsz bratu?
Jacy byliśmy dumni tamtego wieczoru!
Moim zdaniem nie mieli racji.
Priya wybuchnęła płaczem, kiedy usłyszała dobrą wiadomość.
Byłabym szczęśliwsza, gdybyś przestał krytykować moich przyjaciół.
Dlaczego sądzisz, że pieniądze mogą wyleczyć samotność?
Był zbyt zakłopotany, żeby jeszcze raz zapytać o cenę.
Około 70% mieszkańców popiera pomysł utworzenia nowego parku.
Nic nie drażni mnie bardziej niż ludzie, którzy gwiżdżą w windzie.
Cisza po kłótni była gorsza niż krzyki.
W uśmiechu Hiroshiego była nutka smutku.
Najpierw wybacz sobie, a potem przeproś innych.
Chociaż nie zgadzam się prawie z niczym, co ona mówi, podziwiam sposób, w jaki broni swoich poglądów.
Kiedy miałem 17 lat, wstydziłem się rodziców, ale dziś jestem im wdzięczny za cierpliwość.
Dlaczego czujemy nostalgię za miejscami, w których nigdy nie byliśmy naprawdę szczęśliwi?
Mehmet wyznał, że boi się psów, odkąd został pogryziony w Izmirze.
Kiedy samolot wylądował, pasażerowie poczuli taką ulgę, że ściskali zupełnie obcych ludzi.
Jedni mówią, że nuda jest bezużyteczna, inni zaś uważają ją za początek każdego dobrego pomysłu.
Dopóki jesteś ze mną szczery, nie będę rozczarowana, cokolwiek postanowisz.
Była zarazem podekscytowana i przerażona, kiedy nadszedł list z Harvardu, i przez 2 dni nosiła go nieotwarty w kieszeni.
Gdybyś mi 10 lat temu powiedział, że będę tęsknić za hałasem moich dawnych sąsiadów, wyśmiałbym cię.
Czy naprawdę myślisz, że nasza burmistrzyni, która nigdy w życiu nie jechała autobusem, rozumie, dlaczego ludzie narzekają na transport publiczny?
Mój wujek jest najpogodniejszym człowiekiem, jakiego znam, choć odkąd zostawiła go żona, stracił dom, oszczędności i w znacznym stopniu słuch.
Przed wejściem zdejmij buty.
Kiedy w tym roku zaczyna się ramadan?
Mnisi wstają przed świtem.
Szczęśliwego Nowego Roku, drodzy sąsiedzi!
W domu nigdy nie gwiżdżemy.
Podczas Diwali w każdym oknie zapala się małe lampki.
Wesele trwało 3 dni i zaproszono na nie całą wieś.
Dlaczego w twoim kraju goście nigdy nie przychodzą punktualnie?
Dzwony katedry w Krakowie biły w południe.
Odmowa wypicia filiżanki herbaty uchodzi tu za nieuprzejmość.
Ponad 2000 pielgrzymów poszło boso do sanktuarium.
We wsi nie ma księdza, jest tylko starsza zakonnica.
Moi rodzice poszczą w piątki, ale nas do tego nie zmuszają.
Panna młoda miała na sobie czerwoną suknię wyhaftowaną przez ciotki.
W Meksyku w Dniu Zmarłych rodziny przynoszą na groby swoich bliskich kwiaty i jedzenie.
Zgodnie ze starym zwyczajem w Wigilię najmłodsze dziecko chowa w chlebie monetę.
Czy na pogrzeb wypada ubrać się na biało, czy powinnam pożyczyć coś czarnego?
Rabin i imam spotykają się na kawie w każdy czwartek, odkąd w 2008 roku zostali sąsiadami.
Jeśli podczas uczty zapuka nieznajomy, trzeba mu dać najlepsze miejsce przy stole.
Świątynia w Kioto była zamknięta dla zwiedzających, kiedy naprawiano jej drewniany dach.
Chociaż Lucas nie wierzy w Boga, w każdą niedzielę śpiewa w chórze kościelnym.
W noc festiwalu rybacy ozdabiają łodzie papierowymi lampionami i proszą morze, aby było dla nich łaskawe aż do wiosny.
Kiedy Kofi skończył 18 lat, starszyzna dała mu rzeźbioną laskę i nowe imię, które wolno mu było wyjawić tylko żonie.
Czy możesz wyjaśnić, dlaczego pod koniec zimy tancerze zakrywają twarze drewnianymi maskami i gonią dzieci po ulicach?
Papież poprosił tłum na placu Świętego Piotra o modlitwę za ofiary nawałnicy i przez kilka minut nikt w tym ogromnym miejscu nie powiedział ani słowa.
Krowy trzeba doić dwa razy dziennie.
Czy sieci zostały naprawione?
Zamknij za sobą bramę!
Sól bardzo szybko niszczy żelazo.
Zbiory były gorsze, niż się spodziewano.
Huta w Ostrawie zatrudniała niegdyś większość mężczyzn w mieście.
Jest 120 kóz i tylko jeden pasterz.
Drzewa oliwne mogą owocować przez wiele pokoleń.
Jak głęboko schodzą nurkowie, żeby zbierać te muszle?
Traktor zepsuł się akurat wtedy, gdy zaczynał padać deszcz.
Wietnam eksportuje więcej ryżu niż większość jego sąsiadów.
Kuter rybacki wypłynął z portu w Vigo o 4:15.
Nie podlewaj pomidorów w środku dnia.
Wełna tych owiec jest prana, farbowana i przędzona ręcznie.
Jeśli mróz przyjdzie przed zerwaniem jabłek, rolnicy stracą połowę dochodów.
Latarnik zgłosił, że w pobliżu portu widział wielorybicę z młodym.
Do sadu przywieziono pszczoły z 30 uli, aby zapyliły wiśnie.
Kto by pomyślał, że starą kopalnię węgla można zamienić w pieczarkarnię?
Kapitan rozkazał wszystkim pozostać pod pokładem, dopóki fale się nie zmniejszą.
Odkąd cementownia zainstalowała nowe filtry, pranie na naszym podwórku już nie szarzeje.
Thabo uprawia kukurydzę i fasolę na ziemi, którą jego rodzina odzyskała w 1996 roku.
Maszyna, którą zbudowano w Stuttgarcie, potrafi posortować 5000 ziemniaków na godzinę, ale wciąż nie umie odróżnić kamienia od bardzo brudnego ziemniaka.
Po wycieku ropy ochotnicy przez 9 tygodni czyścili plaże, podczas gdy naukowcy liczyli ptaki morskie, którym udało się przeżyć.
Czy powinniśmy posadzić na stromym zboczu las, czy zostawić tam łąkę, żeby konie miały się gdzie paść latem?
Ponieważ młodsze pokolenie przeniosło się do Manili, wodorosty na tym wybrzeżu zbierają teraz głównie kobiety, które mają ponad 60 lat.
Zegary mierzą godziny, ale nie cierpliwość.
Co to znaczy istnieć?
Nie potrafię już przypomnieć sobie jej głosu.
Żyj powoli i myśl głęboko.
Wczorajszy dzień wydaje się już odległy.
Sokrates nie zostawił żadnych pism, więc jesteśmy zdani na jego uczniów.
Czy człowiek może być wolny, nie będąc samotnym?
Zegar na placu od czasu wojny wskazuje 9:10.
Ból pamiętamy dłużej niż wygodę.
Całkowicie obiektywny świadek nie istnieje.
Obietnica złożona przez dziecko to nadal obietnica.
Jeśli wszystko jest z góry przesądzone, to nikt nie zasługuje na pochwałę ani na naganę.
Zapach mokrej kredy przenosi mnie z powrotem do roku 1985.
Czasem mądrzej jest zapomnieć o zniewadze, niż szukać zemsty.
Filozof z Aten dowodził, że przyjemność jest dobra tylko wtedy, gdy nie szkodzi nikomu, łącznie z nami samymi.
Kiedy odwiedziłem swoją dawną szkołę w Hawanie, wszystko wydawało się mniejsze oprócz drzewa mangowego.
Czy nadal byłbyś tą samą osobą, gdyby wszystkie twoje wspomnienia zastąpiono cudzymi?
Hannah Arendt zastanawiała się, jak zwyczajni ludzie mogli popełniać straszne czyny, nigdy nie czując się winni.
Im jestem starszy, tym szybciej mija mi każde lato i tym dłuższe wydają się zimowe noce.
Chociaż nikt nie może wyjść poza czas, muzyka czasami daje nam takie złudzenie.
Przechowujemy fotografie, żeby nie zapomnieć, a mimo to prawie nigdy na nie nie patrzymy.
Mój ojciec, który w wieku 88 lat zapomniał większości naszych imion, wciąż potrafił wyrecytować wszystkie stacje na linii kolejowej do Odessy.
Jeśli statek naprawia się tak często, że nie zostaje z niego żadna pierwotna deska, czy możemy uczciwie powiedzieć, że to wciąż ten sam statek?
Fatima mówi, że nie boi się samej śmierci, ale że bardzo nie chciałaby zostawić tylu dobrych rozmów niedokończonych i tylu listów od przyjaciół bez odpowiedzi.
Nauczycielka kazała nam siedzieć w ciszy z zamkniętymi oczami i kiedy minęło 5 minut, większość z nas była przekonana, że upłynęło 15.
